# vectors.s - tensors and weights for the C of main.c, and the entry of cp.
        .device tiny
        .input  x, int8, 256
        .output sums, int32, 2          # by vectors, by numbers
        .output cycles, uint32, 2

        .core   cp
        .global _start
_start: call    main
        li      a7, 93
        ecall

        .data
        .global weights
        .balign 16
weights: .npy   "w.npy"
