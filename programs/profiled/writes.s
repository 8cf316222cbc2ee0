# writes.s - banks.s, but results lie as they go out, and go out in one piece.
        .device tiny
        .input  x, int8, 32, 128
        .output y, int8, 32, 32

        .equ    TILES, 8                # of four images
        .equ    ROW0, 1
        .equ    CORE0, 1 << 16
        .equ    PONG, 1 << 19           # from half 0 of a unit to its half 1

        .core   pe, row=0
images: .array  int8, 4, 128            # a tile
        .balign 128
results: .array  int8, 4, 32            # a row an image, as they go out
w:       .sparse "w.npy"

        .seq    even, activation=relu, shift=6
          ld    activations, base=0             # four images against one set of weights
          ld    activations, base=1
          ld    activations, base=2
          ld    activations, base=3
          ld    weights
        .irp    n, 0, 1, 2, 3
          mac   base=\n, acc=\n, balance
        .endr
        .irp    n, 0, 1, 2, 3
          spu   nonsf, src=\n, dst=\n
        .endr
        .endseq
        .seq    odd, activation=relu, shift=6   # loads weights while the other computes
          ld    weights
        .irp    n, 0, 1, 2, 3
          mac   base=\n, acc=\n, balance
        .endr
        .irp    n, 0, 1, 2, 3
          spu   nonsf, src=\n, dst=\n
        .endr
        .endseq
        .seq    finish, activation=relu, shift=6
        .irp    n, 0, 1, 2, 3
          spu   activation, src=\n, dst=\n
          spu   requantise, src=\n, dst=\n
          st    base=\n
        .endr
        .endseq

        .list   tile
        config  ib=0, even
        config  ib=1, finish
        config  ib=2, odd
        trace_begin 0                   # for --mode mark
        exe     ib=0, last, data=(images[0], images[1], images[2], images[3], w[0])
        exe     ib=1, last, out=(results, stride=1, step=32, pes=8)
        exe     ib=2, last, data=(w[1])
        exe     ib=1, last, out=(results[0, 8], stride=1, step=32, pes=8)
        exe     ib=2, last, data=(w[2])
        exe     ib=1, last, out=(results[0, 16], stride=1, step=32, pes=8)
        exe     ib=2, last, data=(w[3])
        exe     ib=1, last, out=(results[0, 24], stride=1, step=32, pes=8)
        trace_end 0
        .endlist

        .core   cp
_start: li      s0, ROW0
        li      s1, CORE0
        la      a0, ping                # weights and packets into both halves
        dma.copy zero, a0
        la      a0, pong
        dma.copy zero, a0
        li      s2, TILES
        la      s3, x                   # the next tile's images
        la      s4, y                   # and results
        li      s5, 0                   # the half that loads, 0 or PONG

tiles:  la      a0, take
        li      t0, images              # the tile's images come in
        add     t0, t0, s5
        sw      t0, 0(a0)
        sw      s3, 4(a0)
        dma.copy zero, a0
        dma.wait zero
        mem.swap s0
        la      a1, tile                # the array computes
        dispatch s0, a1
        core.wait s1
        la      a0, give                # results go out
        li      t0, results
        add     t0, t0, s5
        sw      s4, 0(a0)
        sw      t0, 4(a0)
        dma.copy zero, a0
        addi    s4, s4, 4 * 32
        dma.wait zero
        addi    s3, s3, 4 * 128
        li      t0, PONG
        xor     s5, s5, t0
        addi    s2, s2, -1
        bnez    s2, tiles
        li      a0, 0
        li      a7, 93
        ecall

        .section .data.cp               # dst, src, row_bytes, rows, dst_stride, src_stride
        .balign 4
        .equ    WHOLE, w + sizeof(w) - tile
ping:   .word   tile, load_address(tile), WHOLE, 1, 0, 0
pong:   .word   tile + PONG, load_address(tile), WHOLE, 1, 0, 0
take:   .word   0, 0, 4 * 128, 1, 0, 0
give:   .word   0, 0, 4 * 32, 1, 0, 0
