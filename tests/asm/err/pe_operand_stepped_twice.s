# An operand has one step and one stride.
        .core   pe
        .seq    s, pipeline=4
        .step   mac.base, inner=1
        .stride mac.base, pe=1
        .step   mac.acc, inner=1
        .step   mac[0].base, outer=1      #! error 17-28: this operand has two .step
        .stride mac[0].base, cluster=1    #! error 17-28: this operand has two .stride
          mac
        .endseq
