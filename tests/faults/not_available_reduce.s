# Results of PEs are not reduced.
#! fault not available: spu reduce comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, reduction=add
          spu   reduce                  #! here
        .endseq
        config  ib=0, later
