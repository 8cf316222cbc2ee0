# Nor can a symbol that was set be a label.
        .set    there, 5
there:  .word   1                         #! error 1-6: 'there' is defined twice | the first is at tests/asm/err/symbol_and_label.s:2
