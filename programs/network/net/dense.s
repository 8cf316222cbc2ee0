# dense.s - a vector of 256 inputs through 10 outputs.
# 590 cycles, 4,495 bytes outside predicted; iterations wait for the dma.
        .include "macros.inc"
        .view   x, int8, 256, at=pointwise_out
        .view   y, int8, 10, at=digit_real
w:      .sparse "dense.w.npy", clusters=2, pes=16       # a round a tile, in the order of loading
        bias    "dense.bias.npy"                        # what sums begin with, by (n tile, row)
        sizes   room=3133, shift=7                      # of a tile's weights; of results
        .include "shape_4.inc"
        layer   dense, array_4
