# A macro may go on in another part.
        .macro note x
        .section .data
        .byte \x
        .text
        .endm
        .core cp
        nop
        note 1
        nop
        note 2
#! bytes .text.cp 13000000 13000000
#! bytes .data 0102
