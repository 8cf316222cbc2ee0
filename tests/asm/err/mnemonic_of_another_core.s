# An instruction of the array in a part of cp, and the other way round.
        .core   cp
        ld      weights                   #! error 9-11: cp has no instruction 'ld' | pe has it; this part is of cp
        .core   pe
        addi    a0, a0, 1                 #! error 9-13: pe has no instruction 'addi' | cp and vc have it; this part is of pe
