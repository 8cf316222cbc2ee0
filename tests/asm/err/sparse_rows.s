# Matrices that weight queues cannot take.
        .sparse "bad/no_rows.npy"         #! error 17-34: the array is an empty matrix, 0 x 4
        .sparse "bad/dense.npy"           #! error 17-32: the array has 65536 weights in row 0, at most 65535
