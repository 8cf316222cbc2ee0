# Labels of a call's own: by its number, or numbered ones.
        .core cp
        .macro wait r
again\@: addi \r, \r, -1
        bnez \r, again\@
        .endm
        .macro spin r
1:      addi \r, \r, -1
        bnez \r, 1b
        .endm
        wait a0
        spin a0
        wait a1
        spin a1
#! bytes .text.cp 1305f5ff e31e05fe 1305f5ff e31e05fe
#! bytes .text.cp 9385f5ff e39e05fe 9385f5ff e39e05fe
