# .L names do not reach the object file.
.Lhere: .word   .Lhere, .Lthere
.Lthere: .word  0
#! bytes .data 00000080 08000080 00000000
