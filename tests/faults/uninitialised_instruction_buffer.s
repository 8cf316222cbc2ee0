# Buffer 5 has had no config.
#! fault uninitialised instruction buffer: exe ib=5: cluster 0 has no sequence in this buffer
#! core pe\[0\]
#! warns
        .device tiny
        .core   pe
        .seq    nothing
          ld    weights
        .endseq
        config  ib=4, nothing
        exe     ib=5                    #! here
