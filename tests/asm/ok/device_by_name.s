# The device decides how many rows a round of a sparse matrix has.
        .device tiny
        .core   pe, row=1
w:      .sparse "weights.npy"
        .byte   sizeof(w[0]) > 0, sizeof(w[1]) > 0
#! section .pe.1 0x10100000
