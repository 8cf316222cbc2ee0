# array_1.s - cp's code of some layers; gp points to a layer's record.
        .global array_1
        .core   cp
        .include "frame_1.inc"
array_1:
        .irp    part, enter_1, loop_1, leave_1, step_1, tile_1, list_1, place_1, held_1, activations_1, loaded_1, weights_1, ready_1, store_1
        .include "\part\().inc"
        .endr
