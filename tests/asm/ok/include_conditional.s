# A conditional may begin in a file and end behind it.
        .include "include/begin.inc"
        .byte 1
        .else
        .byte 2
        .endif
#! bytes .data 02
