# Two rows that write the same bytes of an output; the sequence that stores is the second one of each.
        .device tiny
        .input  x, int8, 8
        .output y, int32, 16
        .core   pe, row=0
w0:     .sparse "weights.npy"[0:8, 0:8]
        .seq    s0
        .then   ib=1
          ld    both
          mac
          spu   nonsf
        .endseq
        .seq    t0
          st
        .endseq
        config  ib=0, s0
        config  ib=1, t0
        exe     ib=0, last, data=(w0, x), out=y
        .core   pe, row=1
w1:     .sparse "weights.npy"[0:8, 0:8]
        .seq    s1
        .then   ib=1
          ld    both
          mac
          spu   nonsf
        .endseq
        .seq    t1
          st
        .endseq
        config  ib=0, s1
        config  ib=1, t1
        exe     ib=0, last, data=(w1, x), out=y[4]  #! error 47-51: rows 1 and 0 both write 'y', bytes 16 to 32 | write different parts, or copy them back in a cp part of your own
