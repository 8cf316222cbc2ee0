# Two bytes, the lower one first, under three names.
        .half   0, 0x1234, 65535, -32768
        .short  1, -1
        .2byte  0x8000
#! bytes .data 0000 3412ffff 00800100 ffff0080
