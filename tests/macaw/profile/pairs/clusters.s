# Eight neurons for three images on the array: one cluster computes four neurons, then the other four.
# Mended: both clusters compute four each at the same time.
        .device tiny
        .setting pe.rows, 1
        .input  x, int8, 3, 64
        .output y, int32, 8, 3
        .core   pe, row=0
        .ifndef MENDED
w0:     .sparse "clusters.npy"[0:4]
w1:     .sparse "clusters.npy"[4:8]
        .else
w:      .sparse "clusters.npy"
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
        .ifndef MENDED
        exe     ib=0, last, data=(x[0], x[1], x[2], w0[0]), out=(y[0], stride=12, step=4, pes=4), to=0
        exe     ib=0, last, data=(x[0], x[1], x[2], w1[0]), out=(y[4], stride=12, step=4, pes=4), to=0
        .else
        exe     ib=0, last, data=(x[0], x[1], x[2], w[0]), out=(y[0], stride=12, step=4, pes=8)
        .endif
