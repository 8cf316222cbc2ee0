# layer.s - one image through eight rows of a sparse layer
        .device tiny                    # row 0: 2 clusters of 4 PEs
        .input  x, int8, 64
        .output y, int32, 8

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]      # index + value, one row for each PE
        .seq    layer, state=sq
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
