# Whole numbers among floating-point ones.
        .float  1, -7, 16777219
        .double 3
#! bytes .data 0000803f 0000e0c0 0200804b 00000000
#! bytes .data 00000840
