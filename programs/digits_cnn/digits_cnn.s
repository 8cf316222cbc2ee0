# digits_cnn.s - a sparse int8 convolutional network on eighty images of hand-written digits.
#
#   conv 3×3, 1 → 8     8×8×8    rotation: nine weights a PE go round, mac.base walks over the image
#   depthwise 3×3, / 2  4×4×8    sliding window: the image's strips go by, the kernel stays
#   conv 1×1, 8 → 16    4×4×16   rotation over the positions, four groups in the four accumulators
#   dense 256 → 10      10       rotation over the images: weights come once for eight of them
#
# Each row takes 40 images as four groups of ten, two a cluster: PE i·8 + c is channel c of image i
# in the convolutions with eight channels, PE c is channel or digit c of both in the others.
# Image (group g, cluster q, i) of a row is its number (g · 5 + q) · 2 + i.
#
# `arrange.py` has put the parameters into the order of the PEs; shifts are those of network.toml.

        .device "digits.toml"
        .input  x, int8, 80, 8, 8       # images, pixels 0 to 16
        .output y, int32, 80, 10        # logits

        .equ    ROWS, 2
        .equ    CLUSTERS, 5
        .equ    PES, 16 * CLUSTERS              # of a row
        .equ    GROUPS, 4
        .equ    IMAGES, 40                      # of a row
        .equ    SIDE, 8                         # of an image
        .equ    FRAMED, SIDE + 2                # with zeros around it
        .equ    SLABS, 2 * FRAMED * FRAMED      # of a cluster
        .equ    GROUP, SLABS * CLUSTERS
        .equ    STRIP, 3 * 9                    # three rows by nine columns, column by column
        .equ    DIGITS, 10
        .equ    UNIT, 1 << 20                   # from a unit to the next
        .equ    CORE0, 1 << 16                  # rows are cores 16 and 17

# ---------------------------------------------------------------- the array
        .core   pe, row=0

# Instruction buffers. Each layer is a chain: what it needs is loaded, it computes, it is finished.
        .equ    LOAD_EVEN, 0
        .equ    LOAD_ODD, 1
        .equ    CONV_EVEN, 2
        .equ    CONV_ODD, 3
        .equ    FINISH_EVEN, 4
        .equ    FINISH_ODD, 5
        .equ    STORE, 6                # to 13: an output row each
        .equ    LOAD_STRIPS, 14
        .equ    DEPTHWISE, 15
        .equ    FINISH_DEPTHWISE, 16
        .equ    LOAD_MAPS, 17
        .equ    POINTWISE, 18
        .equ    FINISH_POINTWISE, 19
        .equ    LOAD_FEATURES, 20
        .equ    DENSE, 21
        .equ    FINISH_DENSE, 22

# Convolution 3×3. Accumulator k has output row 2k (even) or 2k + 1 (odd), so block k of
# the input buffer holds the image from there on; an iteration is one column of four rows. The bias
# comes with the first iteration and stays in block 15 of the output queue for the others. Sums go
# from the MAC through the special-function unit into the output queue (chained); ReLU comes behind
# requantisation, which changes nothing: both keep the order of numbers, and zero.

        .macro  load_rows block:req, then:req
        .then   ib=\then
        .irp    k, 0, 1, 2, 3
        ld      activations, base=\block+\k
        .endr
        ld      weights
        .endm

        .macro  conv_rows block:req, then:req
        .loop   inner=SIDE
        .irp    k, 0, 1, 2, 3
        .step   mac[\k].base, inner=+1
        .step   spu[\k].dst, inner=+1
        .endr
        .then   ib=\then
        ld      psums, base=15
        .irp    k, 0, 1, 2, 3
        mac     base=\block+\k, acc=\k, sfu
        spu     requantise, src=0, dst=\block+\k
        .endr
        .endm

        .macro  finish_rows block:req
        .irp    k, 0, 1, 2, 3
        spu     activation, src=\block+\k, dst=\block+\k
        .endr
        .endm

        .seq    load_even, state=rq
          load_rows block=0, then=CONV_EVEN
        .endseq
        .seq    load_odd, state=rq
          load_rows block=4, then=CONV_ODD
        .endseq
        .seq    conv_even, state=rq, pipeline=4, shift=5
          conv_rows block=0, then=FINISH_EVEN
        .endseq
        .seq    conv_odd, state=rq, pipeline=4, shift=5
          conv_rows block=4, then=FINISH_ODD
        .endseq
        .seq    finish_even, activation=relu
          finish_rows block=0
        .endseq
        .seq    finish_odd, activation=relu
          finish_rows block=4
        .endseq

        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        .seq    store\k
          st    base=\k
        .endseq
        .endr

# Depthwise 3×3, stride 2. The weight queue holds a PE's four strips; a window is three columns of
# one, the next window two columns on. The kernel waits in the input buffer, column by column as well.

        .seq    load_strips, state=sw, window=9, pop=6
        .then   ib=DEPTHWISE
          ld    activations, base=8
          ld    weights
        .endseq

        .seq    depthwise, state=sw, pipeline=4, window=9, pop=6, shift=7
        .loop   inner=4, outer=4
        .step   spu.dst, inner=+1
        .then   ib=FINISH_DEPTHWISE
          ld    psums, base=14
          mac   base=8, acc=0, sfu
          spu   requantise, src=0, dst=8
        .endseq

        .seq    finish_depthwise, activation=relu
          spu   activation, src=8, dst=8
          st    base=8
        .endseq

# Convolution 1×1: 16 positions of the first image, then 16 of the second; accumulator k has group k.

        .seq    load_maps, state=rq
        .then   ib=POINTWISE
        .irp    k, 12, 13, 14, 15
          ld    activations, base=\k
        .endr
          ld    weights
        .endseq

        .seq    pointwise, state=rq, pipeline=4, shift=6
        .loop   inner=16, outer=2
        .irp    k, 0, 1, 2, 3
        .step   mac[\k].base, inner=+1, outer=+112
        .step   spu[\k].dst, inner=+1
        .endr
        .then   ib=FINISH_POINTWISE
          ld    psums, base=13
        .irp    k, 0, 1, 2, 3
          mac   base=12+\k, acc=\k, sfu
          spu   requantise, src=0, dst=2*\k
        .endr
        .endseq

        .seq    finish_pointwise, activation=relu
        .irp    k, 0, 2, 4, 6
          spu   activation, src=\k, dst=\k
          st    base=\k
        .endr
        .endseq

# Dense: the four groups' first images, then the second ones. Raw sums leave.

        .seq    load_features, state=rq
        .then   ib=DENSE
          ld    activations, base=0
          ld    weights
        .endseq

        .seq    dense, state=rq, pipeline=4
        .loop   inner=4, outer=2
        .step   mac.base, inner=+32, outer=-112
        .step   spu.dst, inner=+1
        .then   ib=FINISH_DENSE
          ld    psums, base=12
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=8
        .endseq

        .seq    finish_dense
          st    base=8
        .endseq

# Data. Only what stands before `loaded` is brought into the units. Memory is zero after reset, and
# nothing is ever written to the frames.

w1:     .sparse "arranged/conv_w.npy"
b1:     .npy    "arranged/conv_b.npy"
w2:     .npy    "arranged/depthwise_w.npy"
b2:     .npy    "arranged/depthwise_b.npy"
w3:     .sparse "arranged/pointwise_w.npy"
b3:     .npy    "arranged/pointwise_b.npy"
w4:     .sparse "arranged/dense_w.npy"
b4:     .npy    "arranged/dense_b.npy"
loaded:

pixels:   .array  int8, GROUPS * GROUP + 7 * FRAMED     # (group, cluster, image, row, column)
strips:   .array  int8, PES, 4 * STRIP                  # of a group: (PE, output row, column, row below it)
maps:     .array  int8, GROUPS, PES, 16                 # depthwise results: (group, PE, position)
features: .array  int8, PES, GROUPS * 2 * 16            # 1×1 results: (PE, group, image, position)
logits:   .array  int32, 2, GROUPS, CLUSTERS, 16        # (image, group, cluster, digit)

# Packets. The convolution is a group ahead of the depthwise one: it computes while strips are
# completed and loaded.

        .macro  conv ib:req, group:req, row:req         # output rows row, row + 2, row + 4, row + 6
        .set    at, (\group) * GROUP + \row * FRAMED
        exe     ib=\ib, last, out=(strips, count=SIDE), data=(pixels[at:at+GROUP] by_cluster, pixels[at+2*FRAMED:at+2*FRAMED+GROUP] by_cluster, pixels[at+4*FRAMED:at+4*FRAMED+GROUP] by_cluster, pixels[at+6*FRAMED:at+6*FRAMED+GROUP] by_cluster, w1[0] by_pe, psums b1 by_pe)
        .endm

# An output row into a strip, as its row `below` (0 to 2); column 0 of a strip is frame.
        .macro  store row:req, strip:req, below:req
        exe     ib=STORE+\row, last, out=(strips[0, (\strip) * STRIP + 3 + \below], stride=4*STRIP, step=3, count=SIDE, pes=PES)
        .endm

        .list   network
        config  ib=LOAD_EVEN, load_even
        config  ib=CONV_EVEN, conv_even
        config  ib=FINISH_EVEN, finish_even
        conv    ib=LOAD_EVEN, group=0, row=0
        config  ib=LOAD_ODD, load_odd
        config  ib=CONV_ODD, conv_odd
        config  ib=FINISH_ODD, finish_odd
        .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        config  ib=STORE+\k, store\k
        .endr
        config  ib=LOAD_STRIPS, load_strips
        config  ib=DEPTHWISE, depthwise
        config  ib=FINISH_DEPTHWISE, finish_depthwise
        conv    ib=LOAD_ODD, group=0, row=1
        .irp    g, 0, 1, 2, 3
        .irp    k, 0, 1, 2, 3
        store   row=\k, strip=\k, below=1       # rows 0, 2, 4, 6
        .endr
        .if     \g + 1 < GROUPS
        conv    ib=LOAD_EVEN, group=\g+1, row=0
        .endif
        .irp    k, 0, 1, 2, 3
        store   row=4+\k, strip=\k, below=2     # rows 1, 3, 5, 7
        .endr
        .irp    k, 0, 1, 2
        store   row=4+\k, strip=\k+1, below=0   # rows 1, 3, 5 again
        .endr
        .if     \g + 1 < GROUPS
        conv    ib=LOAD_ODD, group=\g+1, row=1
        .endif
        exe     ib=LOAD_STRIPS, last, data=(w2 by_pe, weights strips sliced, psums b2 by_pe), out=(maps[\g, 0], stride=16, step=1, count=16, pes=PES)
        .endr
        config  ib=LOAD_MAPS, load_maps
        config  ib=POINTWISE, pointwise
        config  ib=FINISH_POINTWISE, finish_pointwise
        exe     ib=LOAD_MAPS, last, data=(maps[0] by_cluster, maps[1] by_cluster, maps[2] by_cluster, maps[3] by_cluster, w3[0] by_pe, psums b3 by_pe), out=(features[0], stride=128, step=1, count=32, pes=PES)
        config  ib=LOAD_FEATURES, load_features
        config  ib=DENSE, dense
        config  ib=FINISH_DENSE, finish_dense
        exe     ib=LOAD_FEATURES, last, data=(features by_cluster, w4[0] by_pe, psums b4 by_pe), out=(logits, stride=4, step=64*CLUSTERS, count=2*GROUPS, pes=PES)
        .endlist

# ---------------------------------------------------------------- the command processor
        .core   cp
_start:
        la      a0, program             # to all units
        dma.copy zero, a0

# A row begins as soon as its images are there: a transfer for each image row, 8 bytes into its frame.
        la      s0, frame
        li      s1, 1                   # unit and distribution unit of the row
        li      s2, ROWS
each_row:
        li      t0, SIDE
each_line:
        dma.copy t1, s0
        lw      t2, 0(s0)
        lw      t3, 4(s0)
        addi    t2, t2, FRAMED
        addi    t3, t3, SIDE
        sw      t2, 0(s0)
        sw      t3, 4(s0)
        addi    t0, t0, -1
        bnez    t0, each_line
        li      t4, UNIT - SIDE * FRAMED
        add     t2, t2, t4
        li      t4, SIDE * SIDE * (IMAGES - 1)
        add     t3, t3, t4
        sw      t2, 0(s0)
        sw      t3, 4(s0)
        dma.wait t1
        mem.swap s1
        la      a1, network
        dispatch s1, a1
        slli    s1, s1, 1
        addi    s2, s2, -1
        bnez    s2, each_row

# Results: the first images of all pairs, then the second ones.
        la      s0, take
        li      s1, CORE0
        li      s2, ROWS
each_result:
        core.wait s1
        li      t0, 2
each_image:
        dma.copy zero, s0
        lw      t2, 0(s0)
        lw      t3, 4(s0)
        addi    t2, t2, 4 * DIGITS
        addi    t3, t3, 64 * CLUSTERS * GROUPS
        sw      t2, 0(s0)
        sw      t3, 4(s0)
        addi    t0, t0, -1
        bnez    t0, each_image
        li      t4, UNIT - 2 * 64 * CLUSTERS * GROUPS
        add     t3, t3, t4
        addi    t2, t2, 4 * DIGITS * (IMAGES - 2)
        sw      t2, 0(s0)
        sw      t3, 4(s0)
        slli    s1, s1, 1
        addi    s2, s2, -1
        bnez    s2, each_result

        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp
        .balign 4
# Transfers: dst, src, row_bytes, rows, dst_stride, src_stride.
program: .word   network, load_address(network), loaded - network, ROWS, UNIT, 0
frame:   .word   pixels + FRAMED + 1, x, SIDE, IMAGES, FRAMED * FRAMED, SIDE * SIDE
take:    .word   y, logits, 4 * DIGITS, CLUSTERS * GROUPS, 2 * 4 * DIGITS, 64
