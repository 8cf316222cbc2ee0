# Three states.
        .core   pe
        .seq    s, state=sp               #! error 26-28: state: 'sp' is not one of sq, rq, sw
          st
        .endseq
