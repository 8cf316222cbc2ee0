# wrong_shift.s - four images through two sparse int8 layers, 16-8-4.
# One number in it is wrong: docs/debugging-story.md finds it.
        .device tiny                    # row 0: 2 clusters of 4 PEs
        .input  x, int8, 4, 16          # images
        .output y, int32, 4, 4          # sums of the last layer

        .equ    ROW0, 1
        .equ    ROW0_CORE, 1 << 16

        .core   pe, row=0
pixels: .array  int8, 4, 16
hidden: .array  int8, 4, 8
sums:   .array  int32, 4, 4
w1:     .sparse "w1.npy"
w2:     .sparse "w2.npy"

        .seq    products                # four images against one set of weights
        .irp    n, 0, 1, 2, 3
          ld    activations, base=\n
        .endr
          ld    weights
        .irp    n, 0, 1, 2, 3
          mac   base=\n, acc=\n
        .endr
        .irp    n, 0, 1, 2, 3
          spu   nonsf, src=\n, dst=\n
        .endr
        .endseq

        .seq    finish1, activation=relu, shift=5
        .irp    n, 0, 1, 2, 3
          spu   activation, src=\n, dst=\n
          spu   requantise, src=\n, dst=\n
          st    base=\n
        .endr
        .endseq

        .seq    finish2                 # sums as they are
        .irp    n, 0, 1, 2, 3
          st    base=\n
        .endr
        .endseq

        .list   layer1
        config  ib=0, products
        config  ib=1, finish1
        exe     ib=0, last, data=(pixels[0], pixels[1], pixels[2], pixels[3], w1[0])
        exe     ib=1, last, out=(hidden, stride=1, step=8, pes=8)
        .endlist

        .list   layer2
        config  ib=1, finish2
        exe     ib=0, last, data=(hidden[0], hidden[1], hidden[2], hidden[3], w2[0])
        exe     ib=1, last, out=(sums, stride=4, step=16, pes=4)
        .endlist

        .core   cp
_start: la      a0, load_program
        dma.copy zero, a0
        la      a0, load_pixels
        dma.copy zero, a0
        dma.wait zero
        li      s0, ROW0
        li      s1, ROW0_CORE
        mem.swap s0
        la      a1, layer1
        dispatch s0, a1
        core.wait s1
        la      a1, layer2
        dispatch s0, a1
        core.wait s1
        la      a0, store_sums
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp               # dst, src, row_bytes, rows, dst_stride, src_stride
        .balign 4
load_program: .word   layer1, load_address(layer1), w2 + sizeof(w2) - layer1, 1, 0, 0
load_pixels:  .word   pixels, x, sizeof(pixels), 1, 0, 0
store_sums:   .word   y, sums, sizeof(sums), 1, 0, 0
