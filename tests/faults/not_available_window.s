# The sliding window of weights comes with the next version.
#! fault not available: a sequence with state=sw comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, state=sw, window=3, pop=1 #! here
          ld    weights
        .endseq
        config  ib=0, later
