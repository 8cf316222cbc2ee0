# Accumulators leave by spu.
#! fault not available: mac with sfu comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later
          mac   sfu                     #! here
        .endseq
        config  ib=0, later
