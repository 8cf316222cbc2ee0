# Between instructions an alignment is filled with nops.
        .core   cp
        nop
        .balign 16
        ret
        .p2align 3
        ret
        nop
#! bytes .text.cp 13000000 13000000 13000000 13000000
#! bytes .text.cp 67800000 13000000 67800000 13000000
