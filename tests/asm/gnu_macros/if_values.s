        .data
        .irp v, -1, 0, 1, "1 == 1", "2 < 1", 0x8000000000000000, 'a'
        .if \v
        .byte 1
        .endif
        .ifne \v
        .byte 2
        .endif
        .ifeq \v
        .byte 3
        .endif
        .ifgt \v
        .byte 4
        .endif
        .ifge \v
        .byte 5
        .endif
        .iflt \v
        .byte 6
        .endif
        .ifle \v
        .byte 7
        .endif
        .byte 0xff
        .endr
