# Elements and ranges of an array, row by row as in NumPy.
m:      .array  int16, 3, 4
        .word   m[0], m[1], m[1, 2], m[2, 3], m[1:3], m[0, 2:4]
        .byte   sizeof(m), sizeof(m[1]), sizeof(m[1, 2]), sizeof(m[1:3]), sizeof(m[0, 2:4])
#! at .data+0x18 00000080 08000080 0c000080 16000080 08000080 04000080
#! at .data+0x30 18 08 02 10 04
