# Tensors stand on multiples of 64 behind all other data.
        .output a, int8, 1
        .output b, float32, 1
        .input  c, int64, 1
        .byte   1
#! section .tensors 0x80000040 136 align 64
#! symbol a 0x80000040 1 object .tensors
#! symbol b 0x80000080 4 object .tensors
#! symbol c 0x800000c0 8 object .tensors
