# depthwise.s - depthwise convolution 3 × 3, stride 2 × 2, padding 1 × 1, of 8 × 8 × 8 to 8
# channels.
# 604 cycles, 1,725 bytes outside predicted; iterations wait for cp's code.
        .include "macros.inc"
        .view   x, int8, 8, 8, 8, at=conv_out
        .view   y, int8, 4, 4, 8, at=depthwise_out
w:      .sparse "depthwise.w.npy", clusters=1, pes=16   # a round a tile, in the order of loading
        bias    "depthwise.bias.npy"                    # what sums begin with, by (n tile, row)
        sizes   room=245, shift=7                       # of a tile's weights; of results
        .include "shape_2.inc"
        layer   depthwise, array_2
