# conv.s - convolution 3 × 3, stride 1 × 1, padding 1 × 1, of 8 × 8 × 1 to 8 channels. Written by
# macaw compile.
# input stationary, split b: 938 cycles and 1,456 bytes of external memory predicted; iterations
# wait for the rows' work.
        .global conv
        .view   x, int8, 8, 8, 1, at=image_quantized
        .view   y, int8, 8, 8, 8, at=conv_out
w:      .sparse "conv.w.npy", clusters=1, pes=16        # a round a tile, in the order of loading
start_sums:
        .npy    "conv.bias.npy"                         # what sums begin with, by (n tile, row)
        .equ    WEIGHT_ROOM, 248                        # the most weights of a tile
        .equ    SHIFT, 7                                # of results
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
