# out=y: count 1, step an element, stride count times step, the element type of y.
        .device tiny
        .output y, int32, 8
        .core   pe
        .seq    s
          st
        .endseq
        .list   l
        config  ib=0, s
        exe     ib=0, last, out=y
        .endlist
#! at .pe.0+0x20 04000000 04000000 0100 0000 02
