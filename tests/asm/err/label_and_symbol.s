# A label cannot be set.
here:   .word   1
        .set    here, 5                   #! error 17-21: 'here' is defined twice | the first is at tests/asm/err/label_and_symbol.s:2
