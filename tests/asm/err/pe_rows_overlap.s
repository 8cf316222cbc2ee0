# Two rows that write the same bytes of an output.
        .device tiny
        .input  x, int8, 8
        .output y, int32, 12
        .core   pe, row=0
w:      .sparse "weights.npy"[0:8, 0:8]
        .seq    s
          ld    both
          mac
          spu   nonsf
          st
        .endseq
        config  ib=0, s
        exe     ib=0, last, data=(w, x), out=y
        .core   pe, row=1
w1:     .sparse "weights.npy"[0:8, 0:8]
        .seq    s1
          ld    both
          mac
          spu   nonsf
          st
        .endseq
        config  ib=0, s1
        exe     ib=0, last, data=(w1, x), out=y[4]  #! error 47-51: rows 1 and 0 both write 'y', bytes 16 to 32 | write different parts, or copy them back in a cp part of your own
