# The first branch whose condition holds; what follows is not asked.
        .irp v, 0, 1, 2, 3
        .if \v == 0
        .byte 10
        .elseif \v == 1
        .byte 11
        .elseif \v == 2
        .byte 12
        .else
        .byte 13
        .endif
        .endr
        .if 1
        .byte 14
        .elseif nonsense                # not asked for any more
        .endif
#! bytes .data 0a 0b0c0d0e
