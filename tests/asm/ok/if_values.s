# What each comparison says of -1, 0 and 1.
        .irp v, -1, 0, 1
        .if \v
        .byte 1
        .endif
        .ifeq \v
        .byte 2
        .endif
        .ifgt \v
        .byte 3
        .endif
        .ifge \v
        .byte 4
        .endif
        .iflt \v
        .byte 5
        .endif
        .ifle \v
        .byte 6
        .endif
        .ifne \v
        .byte 7
        .endif
        .endr
#! bytes .data 010506 07020406 01030407
