# 64 neurons for an image on the array, eight at a time: each packet brings the image and the weights
# into the buffer that the PEs use. Mended: the image once, and the next weights into another buffer.
        .device tiny
        .setting pe.rows, 1
        .input  x, int8, 64
        .output y, int32, 64
        .core   pe, row=0
w:      .sparse "ahead.npy"
        .macro  layer buffer
        .seq    layer\buffer, state=sq
        .ifndef MENDED
          ld    activations, base=0
        .endif
          ld    weights
          mac   base=0, acc=0
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
        config  ib=0, image
        exe     ib=0, data=(x)
        .endif
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        .ifndef MENDED
        exe     ib=1, last, data=(x, w[\n]), out=y[8 * \n:8 * \n + 8]
        .else
        exe     ib=1 + (\n & 1), last, data=(w[\n]), out=y[8 * \n:8 * \n + 8]
        .endif
        .endr
