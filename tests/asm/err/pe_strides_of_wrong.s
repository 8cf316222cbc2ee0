# A wrong operand is reported at its own line alone, not at a stride of it too.
        .core   pe, row=0
        .seq    s, state=sq
        .stride mac.base, pe=1
        .stride ld.base, pe=1
        ld      activations, base=nowhere  #! error 35-42: undefined symbol 'nowhere'
        mac     base=16                    #! error 22-24: base: 16 is out of range, 0 to 15
        .endseq
