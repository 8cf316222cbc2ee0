# An island multiplies columns of two rows of a bank, row after row. Mended: all columns of a row,
# before the other one is opened.
        .device tiny
        .core   fim, island=0
        .block  banks=0-3
mmr op, mul
mmr arrange, elementwise
        .ifndef MENDED
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
act 0
rop <- iosa[\n]
act 1                                   # here
rz <- rop * iosa[\n]
        .endr
        .else
act 0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
rop <- iosa[\n]
rz <- rop * iosa[8 + \n]
        .endr
        .endif
end
