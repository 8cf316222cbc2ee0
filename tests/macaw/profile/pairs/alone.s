# Sixteen groups of eight neurons on row 0 of the array; row 1 has no work.
# Mended: each row has eight.
        .device tiny
        .input  x, int8, 64
        .input  x1, int8, 64
        .output y, int32, 16, 8
        .ifndef MENDED
        .equ    FIRST, 16
        .else
        .equ    FIRST, 8
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
        part    0, x, 0, FIRST          # here
        .ifdef  MENDED
        part    1, x1, FIRST, 16
        .endif
