# pointwise.s - convolution 1 × 1, stride 1 × 1, padding 0 × 0, of 4 × 4 × 8 to 16 channels. Written
# by macaw compile.
# input stationary, split b: 513 cycles and 1,113 bytes of external memory predicted; iterations
# wait for the rows' work.
        .global pointwise
        .view   x, int8, 4, 4, 8, at=depthwise_out
        .view   y, int8, 4, 4, 16, at=pointwise_out
w:      .sparse "pointwise.w.npy", clusters=1, pes=16   # a round a tile, in the order of loading
start_sums:
        .npy    "pointwise.bias.npy"                    # what sums begin with, by (n tile, row)
        .equ    WEIGHT_ROOM, 185                        # the most weights of a tile
        .equ    SHIFT, 6                                # of results
        .core   cp
pointwise:

        addi    sp, sp, -16
        sw      ra, 12(sp)
        la      gp, record
        call    array_3
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
        .include "shape_3.inc"
