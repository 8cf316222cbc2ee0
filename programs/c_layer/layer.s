# layer.s - eight rows of a sparse layer. Alone it runs with the default cp; main.c replaces that.
        .device tiny
        .input  x, int8, 64
        .output y, int32, 8

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   net
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
        .endlist
