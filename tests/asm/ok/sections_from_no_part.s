# Before the first .core, data, read-only data and zeros.
        .byte   1
        .section .rodata
        .byte   2
        .section .bss
        .space  3
        .section .data
        .byte   4
#! section .data 0x80000000 2
#! section .rodata 0x80000002 1
#! section .bss 0x80000003 3
#! bytes .data 01 04
#! bytes .rodata 02
