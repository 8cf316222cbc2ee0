# Weights of another type, on a device of one's own; a negative zero is a zero.
        .device "fp16.toml"
        .sparse "sparse_fp16.npy"
#! bytes .data 0100 0100 003e 0000
