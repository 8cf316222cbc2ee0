# Who writes is not known of a sequence that is wrong: its exe gives no second error.
        .device tiny
        .output y, int32, 5
        .core   pe
        .seq    sums, reduction=add
          mac
          spu   nonsf, src=0, dst=0
          spu   reducerc=0, dst=1  #! error 17-25: spu has no operand 'reducerc' | write spu function, src=0, dst=0
          st    base=1
        .endseq
        config  ib=0, sums
        exe     ib=0, last, out=y
