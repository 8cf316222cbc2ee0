# mac: balance is bit 9, sfu bit 8, the block stands from bit 4 on, the accumulator from bit 2 on.
        .core   pe
        .seq    s
          mac
          mac   base=15
          mac   acc=3
          mac   balance
          mac   sfu
          mac   base=1, acc=2, balance, sfu
        .endseq
#! at .pe.0+16 0000 f000 0c00 0002 0001 1803
