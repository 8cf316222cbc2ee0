# classes_Gemm.s - a vector of 32 inputs through 4 outputs.
# 279 cycles, 907 bytes outside predicted; iterations wait for cp's code.
        .include "macros.inc"
        .view   x, int8, 32, at=in_q
        .view   y, int32, 4, at=y
w:      .sparse "classes_Gemm.w.npy", clusters=1, pes=16  # a round a tile, in the order of loading
        sizes   room=395                # of a tile's weights; of results
        .include "shape_1.inc"
        layer   classes_Gemm, array_1
