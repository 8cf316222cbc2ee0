        .data
        .irp a, 0, 1
        .irp b, 0, 1
        .if \a
        .if \b
        .byte 3
        .else
        .byte 2
        .endif
        .else
        .if \b
        .byte 1
        .else
        .byte 0
        .endif
        .endif
        .endr
        .endr
