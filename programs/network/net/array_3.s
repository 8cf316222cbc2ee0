# array_3.s - cp's code of some layers. Written by macaw compile.
# gp points to the record of the layer: words with the numbers after #.
        .global array_3
        .core   cp
        .include "frame_1.inc"
array_3:
        .include "loop_1.inc"
        .include "step_1.inc"
        .include "tile_1.inc"
        .include "sums_1.inc"
        .include "held_1.inc"
        .include "activations_3.inc"
        .include "weights_1.inc"
        .include "store_1.inc"
