# Named tensors, each on a multiple of 64.
        .device tiny
        .input  a, int8, 3
        .output b, float64, 2, 2
        .input  c, uint16, 1
        .word   a, b, b[1], b[1, 1], c, sizeof(b), b[0, 1:2]
#! section .tensors 0x80000040 130 align 64
#! bytes .data 40000080 80000080 90000080 98000080 c0000080 20000000 88000080
#! global a b c
