# layer.s - eight rows of a sparse layer, for main.c: it loads the image, starts it, reads y.
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

        .core   cp
        .global _start
_start: call    main                    # the stack pointer is set: the end of local memory
        li      a7, 93                  # exit, with what main returns
        ecall
