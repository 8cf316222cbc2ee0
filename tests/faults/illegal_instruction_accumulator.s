# There are four accumulators.
#! fault illegal instruction: spu nonsf, src=5: accumulators are 0 to 3, those of the scalar unit 8 to 15
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    five
          spu   nonsf, src=5            #! here
        .endseq
        config  ib=0, five
