# Sixteen instructions are the most.
        .core   pe
        .seq    s
          mac; mac; mac; mac; mac; mac; mac; mac
          mac; mac; mac; mac; mac; mac; mac; st
        .endseq
#! section .pe.0 0x10000000 48
#! at .pe.0 10
#! at .pe.0+0x2c 0000 0008
