#--- align_is_a_power
        .data
        .byte   1
        .align  2
        .byte   2
        .align  3
        .byte   3
#--- p2align
        .data
        .byte   1
        .p2align 1
        .byte   2
        .p2align 4
        .byte   3
#--- balign
        .data
        .byte   1
        .balign 4
        .byte   2
        .balign 16
        .byte   3
#--- fill
        .data
        .byte   1
        .balign 4, 0xaa
        .byte   2
        .p2align 3, 0x55
        .byte   3
#--- most
        .data
        .byte   1
        .balign 8, 0, 3
        .byte   2
        .balign 8, 0, 7
        .byte   3
#--- most_without_fill
        .data
        .byte   1
        .p2align 3,,3
        .byte   2
        .p2align 3,,7
        .byte   3
#--- balign_without_fill
        .data
        .byte   1
        .balign 8,,2
        .byte   2
        .balign 8,,6
        .byte   3
#--- code_of_nops
        nop
        .align  3
        nop
        .align  4
        nop
#--- code_after_bytes
        .byte   1
        .align  2
        nop
#--- code_after_halves
        .half   1
        .align  2
        nop
#--- align_zero
        .data
        .byte   1
        .align  0
        .byte   2
#--- balign_one
        .data
        .byte   1
        .balign 1
        .byte   2
#--- balign_three
        .data
        .balign 3
#--- align_then_label
        .data
        .byte   1
        .align  2
x:      .byte   2
        .word   x
