# .bss takes data that are zero.
        .bss
a:      .word   0, 0
        .byte   0
        .zero   3
#! section .bss 0x80000000 12
#! symbol a 0x80000000 12 object .bss
