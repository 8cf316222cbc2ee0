# array_4.s - cp's code of some layers; gp points to a layer's record.
        .global array_4
        .core   cp
        .include "frame_1.inc"
array_4:
        .irp    part, enter_1, copies_1, loop_1, leave_1, step_1, tile_2, list_1, place_1, sums_2, held_1, activations_3, loaded_1, weights_1, ready_1, store_1
        .include "\part\().inc"
        .endr
