# Floating-point sums are written as floating-point numbers.
        .device tiny
        .setting pe.element, fp16
        .output y, int32, 8
        .core   pe
        .seq    plain
          spu   nonsf
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, last, out=y         #! error 33-34: results are not written as int32: the array adds floating-point numbers | pe.widest says which
