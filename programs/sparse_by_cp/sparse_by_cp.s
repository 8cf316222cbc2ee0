# sparse_by_cp.s - a layer whose weights come dense, at run time: y = w @ x.
# The command processor makes index + value of them (seed 000 ¶91), writes how many bytes they have
# become into the packet of the exe, and dispatches it. `exe ..., compress` has the distribution unit do
# the same on the way; what cp converts once may be sent often, and fewer bytes are read for it.

        .device tiny                    # row 0: 2 clusters of 4 PEs
        .equ    ROWS, 8
        .equ    COLUMNS, 64
        .equ    ROOM, ROWS * (2 + 3 * COLUMNS)
        .equ    WEIGHT_BYTES, 28        # in the packet of an exe: the length of its second segment
        .input  x, int8, 64
        .input  w, int8, 8, 64
        .output y, int32, 8
        .output bytes, uint32, 1        # of the weights as index + value

        .core   pe, row=0
sparse: .zero   ROOM
        .seq    layer
          ld    activations
          ld    weights
          mac
          st
        .endseq
        .list   prepare
        config  ib=0, layer
        .endlist
        .list   product
        exe     ib=0, last, data=(x, weights sparse sliced), out=y
        .endlist

        .core   cp
_start: la      a0, image               # packets and the sequence to half 0
        dma.copy zero, a0
        la      a0, take_x
        dma.copy zero, a0
        la      a0, take_w              # w to local memory
        dma.copy zero, a0
        dma.wait zero

        la      a0, dense
        li      a1, ROWS
        li      a2, COLUMNS
        la      a3, records
        call    to_sparse
        la      t0, records
        sub     a0, a0, t0              # so many bytes they are
        la      t0, give_w
        sw      a0, 8(t0)
        la      t1, product
        sw      a0, WEIGHT_BYTES(t1)    # half 0 still loads: cp may write to it
        la      t1, bytes
        sw      a0, (t1)
        dma.copy zero, t0
        dma.wait zero

        li      s0, 1                   # unit 0, row 0
        mem.swap s0                     # half 0 feeds
        li      s1, 1 << 16             # core 16 is row 0
        la      a2, prepare
        dispatch s0, a2
        core.wait s1
        la      a2, product
        dispatch s0, a2
        core.wait s1
        la      a0, give_y
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .include "to_sparse.inc"

        .section .data.cp                       # dst, src, row_bytes, rows, dst_stride, src_stride
        .balign 4
image:   .word   prepare, load_address(prepare), sparse - prepare, 1, 0, 0
take_x:  .word   slot(x, 0), x, sizeof(x), 1, 0, 0
take_w:  .word   dense, w, sizeof(w), 1, 0, 0
give_w:  .word   sparse, records, 0, 1, 0, 0    # the bytes are counted at run time
give_y:  .word   y, slot(y, 0), sizeof(y), 1, 0, 0
dense:   .zero   ROWS * COLUMNS
records: .zero   ROOM
