# Sections of a cp part, and of what stands in none.
        .word   1
        .section .rodata
        .word   2
        .bss
        .space  8
        .balign 4
z:      .word   0
        .data
        .word   3
        .core   cp
        nop
        .section .data.cp
t:      .word   4
        .section .text
        nop
        .section .text.cp
        nop
        .data
        .word   5
        .text
        nop
        .section .bss
        .zero   1
#! section .text.cp 0x10000 16 align 4
#! section .data.cp 0x10010 4 align 16
#! section .data 0x80000000 12
#! section .rodata 0x8000000c 4
#! section .bss 0x80000010 13 align 4
#! bytes .data 01000000 03000000 05000000
#! symbol z 0x80000018 5 object .bss
