# One type, one way.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
x:      .array  int8, 4
        exe     ib=0, data=(weights psums x)  #! error 37-42: the segment says its type twice
        exe     ib=0, data=(x sliced broadcast)  #! error 38-47: the segment says its mode twice
        exe     ib=0, data=(weights x compress compress)  #! error 48-56: the segment says its form twice
