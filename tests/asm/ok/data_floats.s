# Floating-point numbers, rounded once, half to even.
        .float16 1.5, -0.0, 65504, 65519, 2049, 5.9604645e-8, inf, -inf, nan
        .bfloat16 1.5, -0.0, 257, 259, 3.39e38, 9.1835496e-41, 1e30, -inf, nan
        .float  1.5, 16777217, 1e-45, 3.4028235e38, -infinity, nan, +2, .5, 1., 1e3
        .double 0.1, -1e308
#! bytes .data 003e 0080 ff7b ff7b 0068 0100 007c 00fc ff7f
#! bytes .data c03f 0080 8043 8243 7f7f 0100 4a71 80ff ff7f
#! bytes .data 0000c03f 0000804b 01000000 ffff7f7f 000080ff ffffff7f 00000040 0000003f 0000803f 00007a44
#! bytes .data 9a9999999999b93f a0c8eb85f3cce1ff
