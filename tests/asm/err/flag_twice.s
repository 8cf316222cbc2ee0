# A flag is set once.
        .core   pe
        .seq    s
          mac   balance, balance          #! error 26-33: the operand balance is given twice
        .endseq
