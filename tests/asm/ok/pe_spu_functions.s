# spu: four functions, source and destination.
        .core   pe
        .seq    s
          spu   nonsf
          spu   activation
          spu   reduce
          spu   requantise
          spu   nonsf, src=3, dst=15
        .endseq
#! at .pe.0+16 000c 000d 000e 000f 3f0c
