# Of activations there are none and relu.
#! fault not available: a sequence with activation=sigmoid comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, activation=sigmoid #! here
          spu   activation
        .endseq
        config  ib=0, later
