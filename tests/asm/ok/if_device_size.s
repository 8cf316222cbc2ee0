# Sizes of data choose what is assembled.
data:   .array int8, 4, 8
        .if sizeof(data) > 16
        .byte 1
        .else
        .byte 2
        .endif
#! bytes .data 00000000 00000000 00000000 00000000
#! bytes .data 00000000 00000000 00000000 00000000
#! bytes .data 01
