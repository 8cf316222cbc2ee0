# Buffers do not trigger each other.
#! fault not available: a sequence with .then comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later                   #! here
        .then   ib=1
          ld    weights
        .endseq
        config  ib=0, later
