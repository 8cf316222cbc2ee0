# digits_mlp.s - a sparse int8 perceptron, 64-64-64-10, on eighty images of hand-written digits.
#
# Each row takes twenty images, four at a time, one an accumulator (spmm); each of its
# 64 PEs is one neuron. The rows run the same part, so cp loads row 0's image into all four units:
# a 2-D transfer with a source stride of 0. Layers go through ping and pong in turn:
# while one half feeds the array, the weights of the next layer stream into the other.
#
#   half 0   layer 1                       layer 3
#   half 1            layer 2
#
# shift1 and shift2 come from train.py (shifts.toml).

        .device base
        .input  x, int8, 80, 64         # images, pixels 0 to 16
        .output y, int32, 80, 10        # logits

        .equ    ROWS, 4
        .equ    ALL_ROWS, 0xf
        .equ    ALL_CORES, 0xf << 16    # pe rows are cores 16 to 19
        .equ    UNIT, 1 << 20           # from a unit to the next
        .equ    PONG, 1 << 19           # from a unit's half 0 to its half 1
        .equ    IMAGES, 20              # a row

# ---------------------------------------------------------------- the array
        .core   pe, row=0

pixels:  .array  int8, 20, 64           # images of this row
hidden1: .array  int8, 20, 64           # activations after layer 1
hidden2: .array  int8, 20, 64
logits:  .array  int32, 20, 10

w1:     .sparse "w1.npy"                # index + value, a record a neuron
b1:     .npy    "b1.npy"                # (neuron, accumulator)
w2:     .sparse "w2.npy"
b2:     .npy    "b2.npy"
w3:     .sparse "w3.npy"
b3:     .npy    "b3.npy"

        .seq    products_even           # four images against one set of weights
          ld    activations, base=0
          ld    activations, base=1
          ld    activations, base=2
          ld    activations, base=3
          ld    weights
          ld    psums, base=0           # the bias, once an accumulator
          mac   base=0, acc=0
          mac   base=1, acc=1
          mac   base=2, acc=2
          mac   base=3, acc=3
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          spu   nonsf, src=2, dst=2
          spu   nonsf, src=3, dst=3
        .endseq

        .seq    products_odd            # the same in other blocks: loads while the other computes
          ld    activations, base=4
          ld    activations, base=5
          ld    activations, base=6
          ld    activations, base=7
          ld    weights
          ld    psums, base=0           # the bias, once an accumulator
          mac   base=4, acc=0
          mac   base=5, acc=1
          mac   base=6, acc=2
          mac   base=7, acc=3
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          spu   nonsf, src=2, dst=2
          spu   nonsf, src=3, dst=3
        .endseq

        .seq    finish1, activation=relu, shift=4
          spu   activation, src=0, dst=0
          spu   activation, src=1, dst=1
          spu   activation, src=2, dst=2
          spu   activation, src=3, dst=3
          spu   requantise, src=0, dst=0
          spu   requantise, src=1, dst=1
          spu   requantise, src=2, dst=2
          spu   requantise, src=3, dst=3
          st    base=0
          st    base=1
          st    base=2
          st    base=3
        .endseq

        .seq    finish2, activation=relu, shift=7
          spu   activation, src=0, dst=0
          spu   activation, src=1, dst=1
          spu   activation, src=2, dst=2
          spu   activation, src=3, dst=3
          spu   requantise, src=0, dst=0
          spu   requantise, src=1, dst=1
          spu   requantise, src=2, dst=2
          spu   requantise, src=3, dst=3
          st    base=0
          st    base=1
          st    base=2
          st    base=3
        .endseq

        .seq    finish3                 # raw logits
          st    base=0
          st    base=1
          st    base=2
          st    base=3
        .endseq

        .list   layer1
        config  ib=0, products_even
        config  ib=1, products_odd
        config  ib=2, finish1
        exe     ib=0, last, data=(pixels[0], pixels[1], pixels[2], pixels[3], w1[0], psums b1 sliced)
        exe     ib=2, last, out=(hidden1[0:4], stride=1, step=64, pes=64)
        exe     ib=1, last, data=(pixels[4], pixels[5], pixels[6], pixels[7], w1[0], psums b1 sliced)
        exe     ib=2, last, out=(hidden1[4:8], stride=1, step=64, pes=64)
        exe     ib=0, last, data=(pixels[8], pixels[9], pixels[10], pixels[11], w1[0], psums b1 sliced)
        exe     ib=2, last, out=(hidden1[8:12], stride=1, step=64, pes=64)
        exe     ib=1, last, data=(pixels[12], pixels[13], pixels[14], pixels[15], w1[0], psums b1 sliced)
        exe     ib=2, last, out=(hidden1[12:16], stride=1, step=64, pes=64)
        exe     ib=0, last, data=(pixels[16], pixels[17], pixels[18], pixels[19], w1[0], psums b1 sliced)
        exe     ib=2, last, out=(hidden1[16:20], stride=1, step=64, pes=64)
        .endlist

        .list   layer2
        config  ib=2, finish2
        exe     ib=0, last, data=(hidden1[0], hidden1[1], hidden1[2], hidden1[3], w2[0], psums b2 sliced)
        exe     ib=2, last, out=(hidden2[0:4], stride=1, step=64, pes=64)
        exe     ib=1, last, data=(hidden1[4], hidden1[5], hidden1[6], hidden1[7], w2[0], psums b2 sliced)
        exe     ib=2, last, out=(hidden2[4:8], stride=1, step=64, pes=64)
        exe     ib=0, last, data=(hidden1[8], hidden1[9], hidden1[10], hidden1[11], w2[0], psums b2 sliced)
        exe     ib=2, last, out=(hidden2[8:12], stride=1, step=64, pes=64)
        exe     ib=1, last, data=(hidden1[12], hidden1[13], hidden1[14], hidden1[15], w2[0], psums b2 sliced)
        exe     ib=2, last, out=(hidden2[12:16], stride=1, step=64, pes=64)
        exe     ib=0, last, data=(hidden1[16], hidden1[17], hidden1[18], hidden1[19], w2[0], psums b2 sliced)
        exe     ib=2, last, out=(hidden2[16:20], stride=1, step=64, pes=64)
        .endlist

        .list   layer3
        config  ib=2, finish3
        exe     ib=0, last, data=(hidden2[0], hidden2[1], hidden2[2], hidden2[3], w3[0], psums b3 sliced), to=0
        exe     ib=2, last, out=(logits[0:4], stride=4, step=40, pes=10), to=0
        exe     ib=1, last, data=(hidden2[4], hidden2[5], hidden2[6], hidden2[7], w3[0], psums b3 sliced), to=0
        exe     ib=2, last, out=(logits[4:8], stride=4, step=40, pes=10), to=0
        exe     ib=0, last, data=(hidden2[8], hidden2[9], hidden2[10], hidden2[11], w3[0], psums b3 sliced), to=0
        exe     ib=2, last, out=(logits[8:12], stride=4, step=40, pes=10), to=0
        exe     ib=1, last, data=(hidden2[12], hidden2[13], hidden2[14], hidden2[15], w3[0], psums b3 sliced), to=0
        exe     ib=2, last, out=(logits[12:16], stride=4, step=40, pes=10), to=0
        exe     ib=0, last, data=(hidden2[16], hidden2[17], hidden2[18], hidden2[19], w3[0], psums b3 sliced), to=0
        exe     ib=2, last, out=(logits[16:20], stride=4, step=40, pes=10), to=0
        .endlist

# ---------------------------------------------------------------- the command processor
        .core   cp
_start:
        la      a0, program_ping        # layer 1 into half 0
        dma.copy zero, a0
        la      a0, load_pixels
        dma.copy zero, a0
        la      a0, load_layer1
        dma.copy zero, a0
        dma.wait zero

        li      s0, ALL_ROWS
        li      s1, ALL_CORES
        mem.swap s0                     # half 0 feeds, half 1 loads
        la      a1, layer1
        dispatch s0, a1
        la      a0, program_pong        # packets and sequences are small: both halves get all
        dma.copy zero, a0
        la      a0, load_layer2         # hidden behind layer 1
        dma.copy zero, a0
        core.wait s1

        la      a0, pass_hidden1
        dma.copy zero, a0
        dma.wait zero
        mem.swap s0                     # half 1 feeds, half 0 loads
        la      a1, layer2
        dispatch s0, a1
        la      a0, load_layer3         # hidden behind layer 2
        dma.copy zero, a0
        core.wait s1

        la      a0, pass_hidden2
        dma.copy zero, a0
        dma.wait zero
        mem.swap s0                     # half 0 feeds again
        la      a1, layer3
        dispatch s0, a1
        core.wait s1

        la      a0, store_logits
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp
        .balign 4
# Transfers: dst, src, row_bytes, rows, dst_stride, src_stride.
program_ping: .word   0x10000000, load_address(layer1), pixels - 0x10000000, ROWS, UNIT, 0
program_pong: .word   0x10000000 + PONG, load_address(layer1), pixels - 0x10000000, ROWS, UNIT, 0
load_pixels:  .word   pixels, x, 64 * IMAGES, ROWS, UNIT, 64 * IMAGES
load_layer1:  .word   w1, load_address(w1), w2 - w1, ROWS, UNIT, 0
load_layer2:  .word   w2 + PONG, load_address(w2), w3 - w2, ROWS, UNIT, 0
load_layer3:  .word   w3, load_address(w3), b3 + sizeof(b3) - w3, ROWS, UNIT, 0
pass_hidden1: .word   hidden1 + PONG, hidden1, 64 * IMAGES, ROWS, UNIT, UNIT
pass_hidden2: .word   hidden2, hidden2 + PONG, 64 * IMAGES, ROWS, UNIT, UNIT
store_logits: .word   y, logits, 40 * IMAGES, ROWS, 40 * IMAGES, UNIT
