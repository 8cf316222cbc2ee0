# .equiv is for new symbols.
        .equ    n, 1
        .equiv  n, 1                      #! error 17-18: 'n' is defined twice | the first is at tests/asm/err/equiv_of_an_old_symbol.s:2
