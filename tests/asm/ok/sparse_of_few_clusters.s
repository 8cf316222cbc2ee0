# clusters= and pes= say how many rows a round has.
        .device tiny
        .core   pe
a:      .sparse "weights.npy"
b:      .sparse "weights.npy", clusters=1
c:      .sparse "weights.npy", clusters=1, pes=2
        .data
        .word   a[1] - a, b[1] - b, b[2] - b, c[1] - c, c[7] - c
        .word   sizeof(a) - sizeof(b), sizeof(a) - sizeof(c), b[2] - b - (a[1] - a)
        .word   c[4] - c - (b[2] - b)
#! at .data+0x14 00000000 00000000 00000000 00000000
