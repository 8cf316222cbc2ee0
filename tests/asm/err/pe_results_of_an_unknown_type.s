# unit[...] has no type of its own.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=unit[0]         #! error 27-34: the element type of the results is not known | say type=
        exe     ib=0, out=(unit[0], type=int12)  #! error 42-47: type takes an element type of the array | did you mean 'int32'?
