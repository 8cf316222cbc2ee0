# Labels among instructions are addresses of halfwords.
        .core   pe
        .seq    s
one:      ld    activations
          ld    weights
three:    mac
        .endseq
behind: .byte   1
#! symbol one 0x10000010 4 object .pe.0
#! symbol three 0x10000014 4 object .pe.0
#! symbol behind 0x10000018 1 object .pe.0
