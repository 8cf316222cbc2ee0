        .data
        .macro each first, more:vararg
        .byte \first
        .ifnb \more
        each \more
        .endif
        .endm
        each 1, 2, 3, 4, 5
