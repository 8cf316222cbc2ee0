# depthwise.s - depthwise convolution 3 × 3, stride 2 × 2, padding 1 × 1, of 8 × 8 × 8 to 8
# channels. Written by macaw compile.
# weight stationary, split b: 604 cycles and 1,725 bytes of external memory predicted; iterations
# wait for cp's code.
        .global depthwise
        .view   x, int8, 8, 8, 8, at=conv_out
        .view   y, int8, 4, 4, 8, at=depthwise_out
w:      .sparse "depthwise.w.npy", clusters=1, pes=16   # a round a tile, in the order of loading
start_sums:
        .npy    "depthwise.bias.npy"                    # what sums begin with, by (n tile, row)
        .equ    WEIGHT_ROOM, 245                        # the most weights of a tile
        .equ    SHIFT, 7                                # of results
        .core   cp
depthwise:

        addi    sp, sp, -16
        sw      ra, 12(sp)
        la      gp, record
        call    array_2
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
        .include "shape_2.inc"
