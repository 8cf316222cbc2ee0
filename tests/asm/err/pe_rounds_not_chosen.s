# Of a matrix of several rounds one is named.
        .device tiny
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
w:      .sparse "weights.npy", clusters=1
        exe     ib=0, data=(w)            #! error 29-30: 'w' has 4 rounds | name one, w[0] to w[3]
        exe     ib=0, data=(w[4])         #! error 31-32: rounds of 'w': 4 is out of range, 0 to 3
