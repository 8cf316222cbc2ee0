# Arrays and parts of them.
i:      .npy    "int16.npy"
        .npy    "int16.npy"[1]
        .npy    "int16.npy"[0:2, 1]
        .npy    "int16.npy"[:, 2:]
        .npy    "int16.npy"[1, 0:2]
        .npy    "int16.npy"[:]
        .npy    "float32.npy"
        .npy    "scalar.npy"
        .word   i[1], i[0, 2], sizeof(i[1])
# 2 x 3: 0 1 2; 3 4 -1
#! bytes .data 000001000200 03000400ffff
#! bytes .data 03000400ffff
#! bytes .data 01000400
#! bytes .data 0200ffff
#! bytes .data 03000400
#! bytes .data 000001000200 03000400ffff
#! bytes .data 0000c03f 000020c0
#! bytes .data 07
#! bytes .data 06000080 04000080 06000000
