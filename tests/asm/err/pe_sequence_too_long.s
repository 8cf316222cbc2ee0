# At most sixteen.
        .core   pe
        .seq    s
          st; st; st; st; st; st; st; st; st; st; st; st; st; st; st; st; st  #! error 75-77: a sequence holds at most 16 instructions
        .endseq
