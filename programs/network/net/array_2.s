# array_2.s - cp's code of some layers. Written by macaw compile.
# gp points to the record of the layer: words with the numbers after #.
        .global array_2
        .core   cp
        .include "frame_1.inc"
array_2:
        .include "loop_1.inc"
        .include "step_2.inc"
        .include "tile_2.inc"
        .include "sums_1.inc"
        .include "activations_2.inc"
        .include "weights_1.inc"
        .include "store_1.inc"
