# By position: commas or blanks between arguments, a missing one is empty.
        .macro three a, b, c
        .ascii "\a-\b-\c;"
        .endm
        three 1, 2, 3
        three 1 2
        three , 2
#! bytes .data 312d32 2d333b31 2d322d3b 2d322d3b
