# layer.s - sixteen neurons, eight vectors: each vector meets both rounds of weights in turn.
        .device tiny
        .input  x, int8, 8, 64
        .output y, int32, 8, 16

        .core   pe, row=0
w:      .sparse "weights.npy"           # two rounds of eight neurons

        .seq    layer
          ld    activations, base=0
          ld    weights                 # sent again for each vector
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq

        config  ib=0, layer
        .irp    r, 0, 1, 2, 3, 4, 5, 6, 7
        exe     ib=0, last, data=(x[\r], w[0]), out=y[\r, 0]
        exe     ib=0, last, data=(x[\r], w[1]), out=y[\r, 8]
        .endr
