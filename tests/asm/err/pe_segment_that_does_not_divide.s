# Slices have the same number of elements.
        .device tiny
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
x:      .array  int8, 9
        exe     ib=0, data=(x sliced)     #! error 29-37: 'x' has 9 elements here, which 8 cannot share | sliced gives each the same number
        exe     ib=0, data=(x by_cluster)  #! error 29-41: 'x' has 9 elements here, which 2 cannot share | by_cluster gives each the same number
