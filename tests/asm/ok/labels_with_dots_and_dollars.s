# What a name may consist of.
a.b:    .word   1
_c$1:   .word   a.b
$d:     .word   _c$1
.e:     .word   $d, .e
#! bytes .data 01000000 00000080 04000080 08000080
#! bytes .data 0c000080
