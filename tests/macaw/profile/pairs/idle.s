# 24 groups of eight neurons on an array of three rows: rows 0 and 1 have twelve each, row 2 none.
# Mended: each row has eight.
        .device tiny
        .setting pe.rows, 3
        .input  x, int8, 64
        .input  x1, int8, 64
        .input  x2, int8, 64
        .output y, int32, 24, 8
        .ifndef MENDED
        .equ    EACH, 12
        .else
        .equ    EACH, 8
        .endif
        .macro  part row, image, first, last
        .core   pe, row=\row
w\row:  .sparse "ahead.npy"[0:8]
        .seq    image\row
          ld    activations, base=0
        .endseq
        .seq    layer\row, state=sq
          ld    weights
        .rept   4
          mac   base=0, acc=0
        .endr
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, image\row
        config  ib=1, layer\row
        exe     ib=0, data=(\image)
        .set    n, \first
        .rept   \last - \first
        exe     ib=1, last, data=(w\row[0]), out=y[n]
        .set    n, n + 1
        .endr
        .endm
        part    0, x, 0, EACH           # here
        part    1, x1, EACH, 2 * EACH   # here
        .ifdef  MENDED
        part    2, x2, 2 * EACH, 24
        .endif
