# dense.s - a vector of 256 inputs through 10 outputs. Written by macaw compile.
# input stationary, split c: 590 cycles and 4,495 bytes of external memory predicted; iterations
# wait for the dma.
        .global dense
        .view   x, int8, 256, at=pointwise_out
        .view   y, int8, 10, at=digit_real
w:      .sparse "dense.w.npy", clusters=2, pes=16       # a round a tile, in the order of loading
start_sums:
        .npy    "dense.bias.npy"                        # what sums begin with, by (n tile, row)
        .equ    WEIGHT_ROOM, 3133                       # the most weights of a tile
        .equ    SHIFT, 7                                # of results
        .core   cp
dense:
        addi    sp, sp, -16
        sw      ra, 12(sp)
        la      gp, record
        call    array_4
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
        .include "shape_4.inc"
