# layer.s - sixteen neurons, three vectors. No weight that is 0 is sent, no vector twice.
        .device tiny
        .input  x, int8, 3, 128
        .output y, int32, 3, 16

        .core   pe, row=0
w:      .sparse "weights.npy"           # two rounds: rows 0 to 7, rows 8 to 15

        .seq    layer
          ld    weights
          ld    activations, base=0
          ld    activations, base=1
          ld    activations, base=2
          mac   base=0, acc=0
          mac   base=1, acc=1
          mac   base=2, acc=2
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          spu   nonsf, src=2, dst=2
          st    base=0
          st    base=1
          st    base=2
        .endseq

        .seq    next
          ld    weights
          mac   base=0, acc=0
          mac   base=1, acc=1
          mac   base=2, acc=2
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          spu   nonsf, src=2, dst=2
          st    base=0
          st    base=1
          st    base=2
        .endseq

        config  ib=0, layer
        config  ib=1, next
        exe     ib=0, last, data=(w[0], x[0], x[1], x[2]), out=(y[0, 0], stride=4, step=64)
        exe     ib=1, last, data=(w[1]), out=(y[0, 8], stride=4, step=64)
