# Views: other names of the same bytes, with a type and a shape of their own.
        .byte   1
a:      .array  int16, 2, 3
        .view   b, int8, 3, 4, at=a
        .view   c, uint16, 2, at=b + 4
        .word   b[1], b[1, 2], sizeof(b), sizeof(b[0]), c[1], sizeof(c)
#! bytes .data 01 00000000 00000000 00000000 05000080 07000080 0c000000 04000000 07000080 04000000
#! symbol a 0x80000001 12 object .data
#! symbol b 0x80000001 12 object .data
#! symbol c 0x80000005 4 object .data
