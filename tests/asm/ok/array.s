# Arrays of zeros: their parts have addresses and sizes.
        .byte   1
a:      .array  int16, 2, 3
        .byte   2
        .word   a[1], a[1, 2], sizeof(a), sizeof(a[0])
#! bytes .data 01 00000000 00000000 00000000 02 07000080 0b000080 0c000000 06000000
#! symbol a 0x80000001 12 object .data
