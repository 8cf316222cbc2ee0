# A conditional of an included file may end behind it.
        .data
        .include "include/begin.inc"
        .byte 1
        .else
        .byte 2
        .endif
        .byte 3
