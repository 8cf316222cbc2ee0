# Two rows write the same bytes of an output: in its place, and by a copy.
        .device tiny
        .output y, int32, 16, at=unit1
        .core   pe, row=0
        .seq    s
          st
        .endseq
        config  ib=0, s
        exe     ib=0, last, out=(y[0], count=1, pes=8)
        .core   pe, row=1
        .seq    t
          st
        .endseq
        config  ib=0, t
        exe     ib=0, last, out=(y[4], count=1, pes=8)  #! error 34-38: rows 1 and 0 both write 'y', bytes 16 to 32 | write different parts, or copy them back in a cp part of your own
