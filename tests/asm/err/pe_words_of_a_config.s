# A wrong word of a sequence is the error of its own line, not also of the config that sends it.
        .core   pe
        .seq    a, activation=rellu       #! error 31-36: activation: 'rellu' is not one of none, relu, sigmoid, tanh, table | did you mean 'relu'?
          st
        .endseq
        .seq    b
        .types  requantise=scales         #! error 28-34: requantise: 'scales' is not one of shift, scale | did you mean 'scale'?
          st
        .endseq
        .seq    c
        .types  activations=int64         #! error 29-34: activations: 'int64' is not one of default, int8, int16, fp16, fp32 | did you mean 'int16'?
          st
        .endseq
        config  ib=0, a
        config  ib=1, b
        config  ib=2, c
