# Words of the header.
        .core   pe
        .seq    a, activation=rellu       #! error 31-36: activation: 'rellu' is not one of none, relu, sigmoid, tanh, table | did you mean 'relu'?
          st
        .endseq
        .seq    b, reduction=sum          #! error 30-33: reduction: 'sum' is not one of none, add, max, scalar_add, scalar_max
          st
        .endseq
        .seq    c, pipeline=5             #! error 29-30: pipeline: '5' is not one of 2, 4
          st
        .endseq
        .seq    d, depth=2                #! error 20-25: .seq has no operand 'depth' | there are state, pipeline, activation, reduction, shift, window, pop
          st
        .endseq
