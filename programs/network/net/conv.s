# conv.s - convolution 3 × 3, stride 1 × 1, padding 1 × 1, of 8 × 8 × 1 to 8 channels;
# 72 weights that are not zero. Written by macaw lower.

# input stationary, split b: 938 cycles and 1,456 bytes of external memory predicted; iterations
# wait for the rows' work.
# weight stationary, split b, would take 934 cycles; input stationary is preferred (lower.preferred)
# where it costs at most 2% more.
# output stationary, split b: 934 cycles (1.00 times), 1,328 bytes; waits for the rows' work.
        .global conv
        .view   x, int8, 8, 8, 1, at=image_quantized
        .view   y, int8, 8, 8, 8, at=conv_out

# ---------------- external memory
w:      .sparse "conv.w.npy", clusters=1, pes=16        # a round a tile, in the order of loading
start_sums:
        .npy    "conv.bias.npy"                         # what sums begin with, by (n tile, row)
        .bss
        .balign 32
zeros:  .space  10                                      # a line of zeros for paddings
        .balign 32

        .equ    WEIGHT_ROOM, 248        # the most weights of a tile
        .equ    SHIFT, 7                # of results
        .core   cp
conv:
        addi    sp, sp, -16
        sw      ra, 12(sp)
        la      gp, record
        call    array_1
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
        .include "shape_1.inc"
