# Names with .L and numbered labels do not reach the object file.
.Lp:    .word   .Lp
1:      .word   1b
kept:   .word   0
#! absent .Lp 1
#! symbol kept 0x80000008 4 object .data
