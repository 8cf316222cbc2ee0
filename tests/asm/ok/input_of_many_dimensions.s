# Parts of a tensor of four dimensions.
        .input  x, int8, 2, 3, 4, 5
        .word   x[1] - x, x[1, 2] - x, x[1, 2, 3] - x, x[1, 2, 3, 4] - x, sizeof(x)
#! bytes .data 3c000000 64000000 73000000 77000000 78000000
