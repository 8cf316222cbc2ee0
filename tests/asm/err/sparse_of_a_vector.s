# A matrix has two dimensions.
        .core   pe
        .sparse "weights.npy"[0]          #! error 17-33: the array has 1 dimensions, a sparse matrix has 2
