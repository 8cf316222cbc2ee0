        .text
        .macro skip r
        beqz \r, over\@
        nop
over\@:
        .endm
        skip a0
        skip a1
        nop
