        .data
        .macro rest a, more:vararg
        .ascii "[\a|\more]"
        .endm
        rest 1
        rest 1, 2, 3
        rest 1 2 , 3   4
        rest 1 + 2, x - y,
        rest x y  z
        .macro all more:vararg
        .byte \more
        .endm
        all 1, 2, 3
        all 4
