# out= names where results go.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=5               #! error 27-28: out= takes a symbol, a part of one, or unit[offset] | as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)
        exe     ib=0, out=()              #! error 27-29: out= takes a symbol, a part of one, or unit[offset] | as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)
