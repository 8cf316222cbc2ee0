# layer.s - the layer that main.c starts: y = weights * x, eight outputs of 16 inputs
#
# The same layer alone, with each line explained: `macaw new NAME --core pe`.

        .device tiny                    # row 0 of the array: 2 clusters of 4 PEs
        .input  x, int8, 16             # in C: extern int8_t x[16]
        .output y, int32, 8

        .core   pe, row=0
w:      .sparse "weights.npy"           # int8 (8, 16), a row of the matrix for each PE
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   net                     # what C dispatches: net_address
        config  ib=0, layer
        exe     ib=0, last, data=(x, w), out=y
        .endlist

        .core   cp
        .global _start
_start: call    main                    # C begins here; the stack pointer is set
        li      a7, 93                  # exit, with what main returns
        ecall
