# Loads stay with their PE.
#! fault not available: mac with balance comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later
          mac   balance                 #! here
        .endseq
        config  ib=0, later
