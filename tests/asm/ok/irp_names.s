# Names made of values.
        .irp name, red, green
\name:  .byte 1
        .equ is_\name, 5
        .endr
        .byte is_red, is_green, green - red
#! bytes .data 01 01050501
