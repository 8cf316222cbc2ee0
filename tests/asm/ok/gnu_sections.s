# Sections as compilers name them; what no program loads is left out.
        .core   cp
        .section .rodata.str1.4,"aMS",@progbits,1
        .byte   0x10
        .section .text.startup,"ax",@progbits
        .globl  main
        .type   main, @function
main:   ret
        .size   main, .-main
        .text
        nop
        .section .sdata,"aw"
        .byte   0x20
        .data
        .byte   0x21
        .section .sbss.x,"aw",@nobits
        .space  3
        .section .rodata
        .byte   0x11
        .section ".rodata.str1.4"
        .byte   0x12
        .section mine,"aw",%progbits
        .byte   0x22
        .section code,"ax"
        ebreak
        .section table,"a"
        .byte   0x13
        .section room,"aw",@nobits
        .space  5
        .section .note.GNU-stack,"",@progbits
        .word   undefined
        .section .debug_info,"",@progbits
.Linfo: .4byte  .Linfo - undefined
        .uleb128 .Linfo - main )
        .section group,"awG",@progbits,name,comdat
        .byte   0x23
        .pushsection .data
        .byte   0x24
        .pushsection .rodata, 2, "a"
        .byte   0x15
        .popsection
        .byte   0x25
        .popsection
        .byte   0x26
        .data   1
        .byte   0x31
        .data   0
        .byte   0x27
        .subsection 1
        .byte   0x32
        .previous
        .byte   0x28
        .previous
        .byte   0x33
        .bss    1
        .space  1
        .text   3
        nop
#! bytes .text.cp 13000000 13000000 67800000 73001000
#! bytes .data 21 24 25 27 28 31 32 33 20 22 23 26
#! bytes .rodata 11 15 10 12 13
#! symbol main 0x10008 4 func .text.cp
#! absent .Linfo
