# Single precision, also what is not exact.
        .float  0.0, 1.0, -2.5, 0.1, 3.4028234e38, 1e-45
#! bytes .data 00000000 0000803f 000020c0 cdcccc3d
#! bytes .data ffff7f7f 01000000
