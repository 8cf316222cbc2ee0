        .data
        .macro m
        .include "include/leave.inc"
        .byte 3
        .endm
        m
        .rept 2
        .include "include/plain.inc"
        .endr
