# The rotation queue of weights comes with the next version.
#! fault not available: a sequence with state=rq comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, state=rq         #! here
          ld    weights
        .endseq
        config  ib=0, later
