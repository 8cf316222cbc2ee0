# pointwise.s - convolution 1 × 1, stride 1 × 1, padding 0 × 0, of 4 × 4 × 8 to 16 channels.
# 513 cycles, 1,113 bytes outside predicted; iterations wait for the rows' work.
        .include "macros.inc"
        .view   x, int8, 4, 4, 8, at=depthwise_out
        .view   y, int8, 4, 4, 16, at=pointwise_out
w:      .sparse "pointwise.w.npy", clusters=1, pes=16   # a round a tile, in the order of loading
        bias    "pointwise.bias.npy"                    # what sums begin with, by (n tile, row)
        sizes   room=185, shift=6                       # of a tile's weights; of results
        .include "shape_3.inc"
        layer   pointwise, array_3
