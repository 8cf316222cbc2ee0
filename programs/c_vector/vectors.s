# vectors.s - tensors and weights for the C of main.c.
        .device tiny
        .input  x, int8, 256
        .output sums, int32, 2          # by vectors, by numbers
        .output cycles, uint32, 2

        .data
        .global weights
        .balign 16
weights: .npy    "w.npy"
