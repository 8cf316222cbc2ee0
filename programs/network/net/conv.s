# conv.s - convolution 3 × 3, stride 1 × 1, padding 1 × 1, of 8 × 8 × 1 to 8 channels.
# 938 cycles, 1,456 bytes outside predicted; iterations wait for the rows' work.
        .include "macros.inc"
        .view   x, int8, 8, 8, 1, at=image_quantized
        .view   y, int8, 8, 8, 8, at=conv_out
w:      .sparse "conv.w.npy", clusters=1, pes=16        # a round a tile, in the order of loading
        bias    "conv.bias.npy"                         # what sums begin with, by (n tile, row)
        sizes   room=248, shift=7                       # of a tile's weights; of results
        .include "shape_1.inc"
        layer   conv, array_1
