# A row of an array from a file.
        .npy    "int16.npy"[1]
        .byte   0xff
#! bytes .data 0300 0400 ffff ff
