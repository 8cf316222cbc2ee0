# Branches to labels that follow.
        .core   cp
        beq     a0, a1, done
        bne     a0, a1, done
        blt     a0, a1, done
        bge     a0, a1, done
        bltu    a0, a1, done
        bgeu    a0, a1, done
        nop
done:   nop
#! bytes .text.cp 630eb500 631cb500 634ab500 6358b500
#! bytes .text.cp 6366b500 6374b500 13000000 13000000
