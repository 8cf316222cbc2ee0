# Names defined twice.
a:      .word   1
a:      .word   2                         #! error 1-2: 'a' is defined twice | the first is at tests/asm/err/symbols_twice.s:2
        .equ    a, 3                      #! error 17-18: 'a' is defined twice | the first is at tests/asm/err/symbols_twice.s:2
        .equ    b, 1
b:      .word   3                         #! error 1-2: 'b' is defined twice | the first is at tests/asm/err/symbols_twice.s:5
        .equiv  c, 1
        .equiv  c, 2                      #! error 17-18: 'c' is defined twice | the first is at tests/asm/err/symbols_twice.s:7
        .input  x, int8, 4
        .output x, int8, 4                #! error 17-18: 'x' is defined twice | the first is at tests/asm/err/symbols_twice.s:9
x:                                        #! error 1-2: 'x' is defined twice | the first is at tests/asm/err/symbols_twice.s:9
        .set    d, 1
        .set    d, 2
