# array_4.s - cp's code of some layers. Written by macaw compile.
# gp points to the record of the layer: words with the numbers after #.
        .global array_4
        .core   cp
        .include "frame_1.inc"
array_4:
        .include "loop_2.inc"
        .include "step_1.inc"
        .include "tile_3.inc"
        .include "sums_2.inc"
        .include "held_1.inc"
        .include "activations_3.inc"
        .include "weights_1.inc"
        .include "store_1.inc"
