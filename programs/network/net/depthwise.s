# depthwise.s - depthwise convolution 3 × 3, stride 2 × 2, padding 1 × 1, of 8 × 8 × 8 to 8
# channels;
# 71 weights that are not zero. Written by macaw lower.

# weight stationary, split b: 604 cycles and 1,725 bytes of external memory predicted; iterations
# wait for cp's code.
# input stationary, split b, would take 604 cycles; weight stationary is preferred (lower.preferred)
# where it costs at most 2% more.
# output stationary, split b: 604 cycles (1.00 times), 1,725 bytes; waits for cp's code.
        .global depthwise
        .view   x, int8, 8, 8, 8, at=conv_out
        .view   y, int8, 4, 4, 8, at=depthwise_out

# ---------------- external memory
w:      .sparse "depthwise.w.npy", clusters=1, pes=16   # a round a tile, in the order of loading
start_sums:
        .npy    "depthwise.bias.npy"                    # what sums begin with, by (n tile, row)
        .bss
        .balign 32
zeros:  .space  72                                      # a line of zeros for paddings
        .balign 32

        .equ    WEIGHT_ROOM, 245        # the most weights of a tile
        .equ    SHIFT, 7                # of results
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
