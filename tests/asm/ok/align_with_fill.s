# A fill byte, and the most bytes that an alignment may skip.
        .byte   1
        .balign 4, 0xee
        .byte   2
        .balign 8, 0x11, 2
        .byte   3
        .balign 8, 0x22, 7
        .byte   4
#! bytes .data 01 eeeeee02 03222204
