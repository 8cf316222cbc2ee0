# An input is not copied back: a warning.
        .device tiny
        .input  x, int32, 8
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=x               #! warning 27-28: 'x' is an input; results in it are not copied back
        st                                #! error 9-11: st is outside of a sequence | write it between .seq and .endseq
