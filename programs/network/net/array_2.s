# array_2.s - cp's code of some layers; gp points to a layer's record.
        .global array_2
        .core   cp
        .include "frame_1.inc"
array_2:
        .irp    part, enter_1, loop_1, leave_1, step_2, tile_1, list_2, place_1, sums_1, activations_2, rows_1, loaded_1, weights_1, ready_1, store_1
        .include "\part\().inc"
        .endr
