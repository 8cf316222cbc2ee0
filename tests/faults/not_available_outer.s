# A sequence runs once an exe.
#! fault not available: a sequence with outer=3 comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later                   #! here
        .loop   outer=3
          ld    weights
        .endseq
        config  ib=0, later
