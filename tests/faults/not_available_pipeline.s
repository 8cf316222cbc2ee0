# Sequences have the two stages ID and FO.
#! fault not available: a sequence with pipeline=4 comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, pipeline=4       #! here
          ld    weights
        .endseq
        config  ib=0, later
