# ld: four destinations, and a block.
        .core   pe
        .seq    s
          ld    weights
          ld    activations
          ld    psums
          ld    both
          ld    psums, base=9
        .endseq
#! at .pe.0+16 0004 0005 0006 0007 9006
