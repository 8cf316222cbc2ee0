# own_cp.s - programs/layer, with a command processor part of its own.
        .device tiny
        .input  x, int8, 64
        .output y, int32, 8
        .equ    ROW0, 1                 # units and distribution units: bit = row
        .equ    CORE0, 1 << 16          # cores: row 0 is core 16

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]
        .seq    layer
          ld    activations
          ld    weights
          mac   base=0, acc=0
          st    base=0
        .endseq
        .list   packets
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y
        .endlist

        .core   cp
_start: la      a0, image               # packets, sequences and weights to half 0
        dma.copy zero, a0
        la      a0, take_x              # x to its place in the image
        dma.copy zero, a0
        dma.wait zero
        li      a1, ROW0
        mem.swap a1                     # half 0, just filled, feeds; half 1 loads
        la      a2, packets
        dispatch a1, a2
        li      a3, CORE0
        core.wait a3
        la      a0, give_y              # y lies in the half that feeds: still half 0
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp               # dst, src, row_bytes, rows, dst_stride, src_stride
        .balign 4
image:  .word   packets, load_address(packets), w + sizeof(w) - packets, 1, 0, 0
take_x: .word   slot(x, 0), x, sizeof(x), 1, 0, 0
give_y: .word   y, slot(y, 0), sizeof(y), 1, 0, 0
