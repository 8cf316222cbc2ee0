# A chain of symbols, defined backwards.
        .set    a, b + 1
        .set    b, c * 2
        .set    c, 21
        .word   a, b, c
#! bytes .data 2b000000 2a000000 15000000
