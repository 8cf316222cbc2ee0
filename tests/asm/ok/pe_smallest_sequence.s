# A sequence is a header of 16 bytes and a halfword an instruction.
        .core   pe
        .seq    s
          st
        .endseq
#! bytes .pe.0 01 00 02 00 00 00 00 00 0100 0100 0000 0000
#! bytes .pe.0 0008
#! symbol s 0x10000000 18 object .pe.0
