# Integer sums are written as integers, and only an exe that stores is wrong.
        .device tiny
        .output y, float32, 8
        .output z, int32, 8
        .core   pe
        .seq    plain
          spu   nonsf
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=y
        exe     ib=0, last, out=y         #! error 33-34: results are not written as fp32: the array adds integers | pe.widest says which
        exe     ib=0, last, out=(z, type=fp16)  #! error 42-46: results are not written as fp16: the array adds integers | pe.widest says which
        exe     ib=0, last, out=z
