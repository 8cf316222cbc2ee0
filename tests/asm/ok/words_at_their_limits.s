# Four bytes under three names.
        .word   0, 0x12345678, 4294967295, -2147483648
        .long   1
        .4byte  -1
#! bytes .data 00000000 78563412 ffffffff 00000080
#! bytes .data 01000000 ffffffff
