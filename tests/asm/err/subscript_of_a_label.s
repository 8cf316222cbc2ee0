# Only what has elements has parts.
x:      .word   1, 2, 3
        .word   x[1]                      #! error 17-21: 'x' has no elements to choose from | a tensor, .npy, .sparse or .dense has
