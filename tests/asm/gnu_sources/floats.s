# Floating-point data, numbers that are not half way between two.
        .data
        .float  0, -0.0, 1, 1.5, -2.25, 1e10, 1e-10, 3.14159265358979, 0.1, inf, -inf, 123456789
        .float  3.4028234e38, 1.17549435e-38, 1e-40
        .double 0, -0.0, 1, 1.5, 1e300, 1e-300, 0.1, 3.141592653589793, inf
        .float16 0, 1, 1.5, -2.25, 0.1, 65504, 6.1e-5, 1e-6, 100.3, inf
