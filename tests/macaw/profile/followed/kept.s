# kept.s - six_cores.s, but logits and best ones are in the local memory of cp until the end.
#
#   x  ->  pe: 16 sparse neurons  ->  vc: ReLU, four logits  ->  cp: the best one
#   d  ->  nnp: a dense layer with ReLU
#   e  ->  fim: sixteen dot products with a table
#
# In a round the array has round k, nnp and fim too; vc has what the array computed in round k - 1, cp what
# vc did in k - 1; the dma brings what round k + 1 needs and takes results away. Halves of the array's
# unit, and banks 0 and 1 of the island, take turns.
#
# -D WITHOUT_PE=1 (CP, DMA, VC, NNP, FIM) leaves out the work of one core, to see what it costs.

        .device tiny
        .equ    ROUNDS, 8
        .input  x, int8, 32, 256
        .input  d, float16, 128, 8      # sixteen vectors a round
        .input  e, float16, 32, 16
        .output y, int32, 32, 4
        .output best, int32, 32
        .output n, float16, 128, 8
        .output f, float16, 32, 16

        .equ    ROW0, 1
        .equ    PONG, 1 << 19           # from half 0 of a unit to its half 1
        .equ    VC, 2
        .equ    NNP, 3
        .equ    ISLAND0, 8
        .equ    OTHERS, 1 << VC | 1 << NNP | 1 << ISLAND0 | 1 << 16
        .equ    NNP_BASE, 0x20003100    # where Dram begins, a register of nnp
        .equ    BANK0, 0x40000000
        .equ    BANK, 64 * 1024

# ---------------------------------------------------------------- pe: h = w1 x, four items at a time
        .core   pe, row=0
items:  .array  int8, 4, 256
        .balign 32
h:      .array  int32, 4, 16            # a row an item
w1:     .sparse "w1.npy"

        .seq    first
          ld    activations, base=0
          ld    activations, base=1
          ld    activations, base=2
          ld    activations, base=3
          ld    weights
        .irp    i, 0, 1, 2, 3
          mac   base=\i, acc=\i
        .endr
        .irp    i, 0, 1, 2, 3
          spu   nonsf, src=\i, dst=\i
        .endr
        .endseq
        .seq    second
          ld    weights
        .irp    i, 0, 1, 2, 3
          mac   base=\i, acc=\i
        .endr
        .irp    i, 0, 1, 2, 3
          spu   nonsf, src=\i, dst=\i
        .endr
        .endseq
        .seq    finish
        .irp    i, 0, 1, 2, 3
          st    base=\i
        .endr
        .endseq

        .list   layer
        config  ib=0, first
        config  ib=1, finish
        config  ib=2, second
        exe     ib=0, last, data=(items[0], items[1], items[2], items[3], w1[0])
        exe     ib=1, last, out=(h, stride=4, step=64, pes=8)
        exe     ib=2, last, data=(w1[1])
        exe     ib=1, last, out=(h[0, 8], stride=4, step=64, pes=8)
        .endlist

# ---------------------------------------------------------------- vc: y = w2 relu(h)
        .core   vc
logits: la      t0, arguments           # from cp: where h and y are
        lw      a0, 0(t0)
        lw      a1, 4(t0)
        la      t0, w2
        vld     vr8, (t0)
        vld     vr9, 16(t0)
        vld     vr10, 32(t0)
        vld     vr11, 48(t0)
        la      t0, straight
        vld     vr12, (t0)
        vsplat.w vr13, zero
        li      t1, 4
1:      vld     vr0, (a0)               # 16 sums of an item, as bytes
        vld     vr1, 16(a0)
        vld     vr2, 32(a0)
        vld     vr3, 48(a0)
        vnarrow.w vr0, vr0, vr1, 5
        vnarrow.w vr2, vr2, vr3, 5
        vnarrow.h vr0, vr0, vr2, 0
        vmax.b  vr0, vr0, vr13
        pmac.s8 vr4, vr0, vr8, vr12     # four products a lane
        pmac.s8 vr5, vr0, vr9, vr12
        pmac.s8 vr6, vr0, vr10, vr12
        pmac.s8 vr7, vr0, vr11, vr12
        .irp    c, 4, 5, 6, 7
        vsum.w  vr\c, vr\c
        vext.w  t2, vr\c, 0
        vins.w  vr3, t2, \c - 4
        .endr
        vst     vr3, (a1)
        addi    a0, a0, 64
        addi    a1, a1, 16
        addi    t1, t1, -1
        bnez    t1, 1b
        li      a0, 0
        li      a7, 93
        ecall

# ---------------------------------------------------------------- nnp: n = relu(wd d)
        .core   nnp
matrix: SetRowsCols(2, 2)               # once; base is at wd then
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        end_chain
        .word   0
dense:  SetRowsCols(2, 2)               # base is at the round's vectors
        SetIterations(16)
        v_rd_inc Dram, 0, 2
        mv_mul  0
        v_relu
        v_wr_inc Dram, RESULTS, 2
        end_chain
        .equ    RESULTS, (n - d) / 8    # native vectors of four elements

# ---------------------------------------------------------------- fim: f = table e, in bank 0 or 1
        .core   fim, island=0
        .equ    E, 16                   # columns: the table, e, f
        .equ    F, 20
        .macro  products bank
        .block  banks=\bank
          act   0
        .irp    i, 0, 1, 2, 3
          rop <- iosa[E + \i]
          mmr   rz_slot, 0
          mmr   op, mul
          mmr   arrange, dot
          rz <- rop * iosa[0:16]
          mmr   rz_slot, 0
          mmr   arrange, elementwise
          iosa[F + \i] <- rz
        .endr
        end
        endall
        .endm
even:   products 0
odd:    products 1

# ---------------------------------------------------------------- cp
        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    ping                    # what stays: weights of pe in both halves, tables of fim
        copy    pong
        copy    tables
        li      s0, 0                   # the round
        li      s1, 0                   # the half that loads: 0 or PONG
        li      s2, 0                   # the bank that loads: 0 or BANK
        la      t0, wd
        li      t1, NNP_BASE
        sw      t0, (t1)
        li      t0, NNP
        la      t1, matrix
        core.start t0, t1
        call    load
        li      t0, 1 << NNP
        core.wait t0

rounds: dma.wait zero
        li      t0, OTHERS
        core.wait t0
        li      t0, ROW0
        mem.swap t0
        li      t0, PONG
        xor     s1, s1, t0
        li      t0, BANK
        xor     s2, s2, t0
        li      t0, ROUNDS
        bge     s0, t0, 1f
        call    start
1:      beqz    s0, 2f
        li      t0, ROUNDS
        bgt     s0, t0, 2f
        call    behind
2:      li      t0, ROUNDS - 1
        bge     s0, t0, 3f
        call    load
3:      li      t0, 2
        blt     s0, t0, 4f
        call    choose
4:      addi    s0, s0, 1
        li      t0, ROUNDS + 2
        bne     s0, t0, rounds
        copy    give_y
        copy    give_best
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

start:                                  # round s0 in pe, nnp and fim
        .ifndef WITHOUT_PE
        li      t0, ROW0
        la      t1, layer
        dispatch t0, t1
        .endif
        .ifndef WITHOUT_NNP
        la      t0, d
        slli    t1, s0, 8               # 16 vectors of 16 bytes
        add     t0, t0, t1
        li      t1, NNP_BASE
        sw      t0, (t1)
        li      t0, NNP
        la      t1, dense
        core.start t0, t1
        .endif
        .ifndef WITHOUT_FIM
        li      t0, ISLAND0             # the bank that does not load
        la      t1, even
        bnez    s2, 1f
        la      t1, odd
1:      core.start t0, t1
        .endif
        ret

behind:                                 # round s0 - 1 in vc; its dot products go out
        .ifndef WITHOUT_VC
        la      t0, arguments
        li      t1, h
        add     t1, t1, s1              # the array has left the half that loads now
        sw      t1, 0(t0)
        la      t1, kept - 64
        slli    t2, s0, 6               # 4 items of 16 bytes
        add     t1, t1, t2
        sw      t1, 4(t0)
        li      t0, VC
        la      t1, logits
        core.start t0, t1
        .endif
        .ifndef WITHOUT_DMA
        la      a0, give_f
        la      t0, f - 128
        slli    t1, s0, 7               # 4 items of 32 bytes
        add     t0, t0, t1
        sw      t0, 0(a0)
        li      t0, BANK0 + 32 * F
        add     t0, t0, s2
        sw      t0, 4(a0)
        dma.copy zero, a0
        .endif
        ret

load:                                   # the next round's items come in
        .ifdef  WITHOUT_DMA
        bnez    s0, loaded              # of round 1 alone, the second half keeps what it had
        .endif
        la      a0, take_x
        li      t0, items
        add     t0, t0, s1
        sw      t0, 0(a0)
        dma.copy zero, a0
        lw      t0, 4(a0)
        addi    t0, t0, 4 * 256
        sw      t0, 4(a0)
        la      a0, take_e
        li      t0, BANK0 + 32 * E
        add     t0, t0, s2
        sw      t0, 0(a0)
        dma.copy zero, a0
        lw      t0, 4(a0)
        addi    t0, t0, 4 * 32
        sw      t0, 4(a0)
loaded: ret

choose:                                 # the best logit of each item of round s0 - 2
        .ifndef WITHOUT_CP
        addi    t6, s0, -2
        slli    t6, t6, 4
        la      t0, kept
        slli    t1, t6, 2
        add     t0, t0, t1
        la      t1, chosen
        add     t1, t1, t6
        li      t2, 4
1:      lw      t4, 0(t0)
        li      t3, 0
        .irp    c, 1, 2, 3
        lw      t5, 4 * \c(t0)
        ble     t5, t4, 2f
        mv      t4, t5
        li      t3, \c
2:
        .endr
        sw      t3, (t1)
        addi    t0, t0, 16
        addi    t1, t1, 4
        addi    t2, t2, -1
        bnez    t2, 1b
        .endif
        ret

        .section .data.cp               # dst, src, row_bytes, rows, dst_stride, src_stride
        .balign 4
        .equ    WHOLE, w1 + sizeof(w1) - layer
ping:   .word   layer, load_address(layer), WHOLE, 1, 0, 0
pong:   .word   layer + PONG, load_address(layer), WHOLE, 1, 0, 0
tables: .word   BANK0, table, 512, 2, BANK, 0
take_x: .word   0, x, 4 * 256, 1, 0, 0
take_e: .word   0, e, 4 * 32, 1, 0, 0
give_f: .word   0, 0, 4 * 32, 1, 0, 0
give_y: .word   y, kept, sizeof(y), 1, 0, 0
give_best: .word best, chosen, sizeof(best), 1, 0, 0
        .balign 16
kept:   .space  sizeof(y)
chosen: .space  sizeof(best)

        .section .data
        .balign 64
wd:        .npy    "wd.npy"
table:     .npy    "table.npy"
w2:        .npy    "w2.npy"
straight:  .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
arguments: .word   0, 0
