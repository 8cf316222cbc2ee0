# Of activations there are none and relu.
#! fault not available: a sequence with activation=tanh comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, activation=tanh  #! here
          spu   activation
        .endseq
        config  ib=0, later
