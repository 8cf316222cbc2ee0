# Data lie in the row's own unit; tensors get a place there.
        .device tiny
        .data
x:      .array  int8, 4
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, data=(activations x)  #! error 41-42: 'x' does not lie in row 0 | put it after '.core pe, row=0'
