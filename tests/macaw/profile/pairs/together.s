# An island multiplies four vectors by a matrix. The matrix is in row 0, vectors and products are in
# row 1, so the bank opens a row for each. Mended: row 0 has all.
        .device tiny
        .core   fim, island=0
        .block  banks=0-3
mmr op, mul
mmr arrange, dot
        .ifndef MENDED
        .irp    n, 0, 1, 2, 3
act 1                                   # here
rop <- iosa[\n]
act 0                                   # here
rz <- rop * iosa[0:16]
act 1
iosa[16 + \n] <- rz
        .endr
        .else
act 0
        .irp    n, 0, 1, 2, 3
rop <- iosa[16 + \n]
rz <- rop * iosa[0:16]
iosa[20 + \n] <- rz
        .endr
        .endif
end
