# Eight neurons on the array, one a PE, for 24 images, three at a time. The results of two PEs are 128
# bytes apart: one bank has all results of an image. Mended: 136 bytes, so they are in other banks.
        .device tiny
        .setting pe.rows, 1
        .input  x, int8, 24, 16
        .output y, int32, 8, 24
        .ifndef MENDED
        .equ    PITCH, 128
        .else
        .equ    PITCH, 136
        .endif
        .core   pe, row=0
        .seq    layer, state=sq
        .irp    n, 0, 1, 2
          ld    activations, base=\n
        .endr
          ld    weights
        .irp    n, 0, 1, 2
          mac   base=\n, acc=\n
        .endr
        .irp    n, 0, 1, 2
          spu   nonsf, src=\n, dst=\n
          st    base=\n                 # here
        .endr
        .endseq
        .list   layers
        config  ib=0, layer
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        exe     ib=0, last, data=(images[3 * \n], images[3 * \n + 1], images[3 * \n + 2], w[0]), out=(sums[0, 3 * \n], stride=PITCH, step=4, pes=8)
        .endr
        .endlist
w:      .sparse "spread.npy"
loaded:
images: .array  int8, 24, 16
sums:   .array  int32, 8, PITCH / 4

        .core   cp
_start: la      a0, program
        dma.copy zero, a0
        la      a0, bring
        dma.copy zero, a0
        dma.wait zero
        li      s0, 1
        mem.swap s0
        la      a1, layers
        dispatch s0, a1
        li      t0, 1 << 16
        core.wait t0
        la      a0, take
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
program: .word  layers, load_address(layers), loaded - layers, 1, 0, 0
bring:  .word   images, x, sizeof(x), 1, 0, 0
take:   .word   y, sums, 4 * 24, 8, 4 * 24, PITCH
