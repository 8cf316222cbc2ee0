# A branch goes to an even distance.
        .core   cp
        beq     a0, a1, . + 3             #! error 25-30: target: the distance 3 is not a multiple of 2
        j       . + 1                     #! error 17-22: target: the distance 1 is not a multiple of 2
