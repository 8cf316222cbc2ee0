# Every number.
        .core   cp
        add     x0, x1, x2
        add     x3, x4, x5
        add     x6, x7, x8
        add     x9, x10, x11
        add     x12, x13, x14
        add     x15, x16, x17
        add     x18, x19, x20
        add     x21, x22, x23
        add     x24, x25, x26
        add     x27, x28, x29
        add     x30, x31, x0
#! bytes .text.cp 33802000 b3015200 33838300 b304b500
#! bytes .text.cp 3386e600 b3071801 33894901 b30a7b01
#! bytes .text.cp 338cac01 b30dde01 338f0f00
