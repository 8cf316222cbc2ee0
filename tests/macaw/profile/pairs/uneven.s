# Sixteen neurons for three images on the array, eight at a time; every other neuron has few weights,
# so its PE waits for its neighbours. Mended: those with many weights come first.
        .device tiny
        .setting pe.rows, 1
        .input  x, int8, 3, 64
        .output y, int32, 16, 3
        .core   pe, row=0
        .ifndef MENDED
w:      .sparse "mixed.npy"
        .equ    STRIDE, 12              # from the results of a PE to those of the next one
        .else
w:      .sparse "sorted.npy"
        .equ    STRIDE, 24
        .endif
        .seq    layer, state=sq
        .irp    n, 0, 1, 2
          ld    activations, base=\n
        .endr
          ld    weights
        .irp    n, 0, 1, 2
          mac   base=\n, acc=\n         # here
        .endr
        .irp    n, 0, 1, 2
          spu   nonsf, src=\n, dst=\n
          st    base=\n
        .endr
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x[0], x[1], x[2], w[0]), out=(y[0], stride=STRIDE, step=4, pes=8)
        .ifndef MENDED
        exe     ib=0, last, data=(x[0], x[1], x[2], w[1]), out=(y[8], stride=STRIDE, step=4, pes=8)
        .else
        exe     ib=0, last, data=(x[0], x[1], x[2], w[1]), out=(y[1], stride=STRIDE, step=4, pes=8)
        .endif
