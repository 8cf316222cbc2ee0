# A segment names what it carries.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, data=(weights)      #! error 29-36: undefined symbol 'weights'
        exe     ib=0, data=(sliced weights)  #! error 29-43: the segment names no symbol
        config                            #! error 9-15: config needs the operand ib | write config ib=, sequence=, data=, to=
