# A byte holds -128 to 255.
        .byte   0, 1, 127, 128, 255, -1, -127, -128
#! bytes .data 00017f80 ffff8180
