# 64 neurons for an image on the array, eight at a time, with one instruction buffer: the weights of
# the next eight come after the macs. Mended: with two buffers they come while the PEs compute.
        .device tiny
        .setting pe.rows, 1
        .input  x, int8, 64
        .output y, int32, 64
        .core   pe, row=0
w:      .sparse "ahead.npy"
        .macro  layer buffer
        .seq    layer\buffer, state=sq
          ld    weights
        .rept   2
          mac   base=0, acc=0
        .endr
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=\buffer, layer\buffer
        .endm
        .seq    image
          ld    activations, base=0
        .endseq
        layer   1                       # here
        .ifdef  MENDED
        layer   2
        .endif
        config  ib=0, image
        exe     ib=0, data=(x)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        .ifndef MENDED
        exe     ib=1, last, data=(w[\n]), out=y[8 * \n:8 * \n + 8]
        .else
        exe     ib=1 + (\n & 1), last, data=(w[\n]), out=y[8 * \n:8 * \n + 8]
        .endif
        .endr
