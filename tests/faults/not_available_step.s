# Operands stay as they are.
#! fault not available: a sequence with .step comes with a later version
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    later, pipeline=4       #! here
        .step   mac.base, inner=1
          mac
        .endseq
        config  ib=0, later
