# By name, behind those by position; blanks around = are dropped.
        .macro three a, b, c
        .ascii "\a-\b-\c;"
        .endm
        three c=3, a=1, b=2
        three 1, c = 3
#! bytes .data 312d32 2d333b31 2d2d333b
