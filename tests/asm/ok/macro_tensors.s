# Tensors that a macro declares.
        .device tiny
        .macro both name, count
        .input \name\()_in, int8, \count
        .output \name\()_out, int32, \count
        .endm
        both a, 8
        both b, 16
