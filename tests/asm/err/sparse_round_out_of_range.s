# A sparse matrix has rounds.
        .device tiny
        .core   pe
w:      .sparse "weights.npy"
        .data
        .word   w[2]                      #! error 19-20: rounds of 'w': 2 is out of range, 0 to 1
        .word   w[0:1]                    #! error 17-23: 'w' takes the number of a round, 0 to 1
