# Branches to labels before, the nearest to the branch itself.
        .core   cp
top:    nop
        beq     a0, a1, top
        bne     a0, a1, top
here:   bgeu    a0, a1, here
#! bytes .text.cp 13000000 e30eb5fe e31cb5fe 6370b500
