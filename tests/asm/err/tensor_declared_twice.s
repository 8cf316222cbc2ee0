# A tensor is shared among all files.
        .input  x, int8, 4
        .input  x, int8, 4                #! error 17-18: 'x' is defined twice | the first is at tests/asm/err/tensor_declared_twice.s:2
