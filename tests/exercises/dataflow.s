# layer.s - sixteen neurons, eight vectors: weights stay in the PEs, each row has half of the vectors.
        .device tiny
        .input  x, int8, 8, 64
        .output y, int32, 8, 16

        .macro  half row, a, b, c, d
        .core   pe, row=\row
w\row:  .sparse "weights.npy"

        .seq    products\row, state=rq, pipeline=4
        .loop   inner=4
        .step   spu.dst, inner=1
        .then   ib=1
          ld    weights
          ld    activations, base=0
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
        .endseq

        .seq    store\row
          st    base=0
        .endseq

        config  ib=0, products\row
        config  ib=1, store\row
        .irp    r, 0, 1
        exe     ib=0, last, data=(w\row[\r], x[\a], x[\b], x[\c], x[\d]), out=(y[\a, 8 * \r], stride=4, step=64, count=4)
        .endr
        .endm

        half    0, 0, 1, 2, 3
        half    1, 4, 5, 6, 7
