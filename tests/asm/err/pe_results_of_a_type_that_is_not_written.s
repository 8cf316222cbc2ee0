# Not every tensor can take results.
        .output y, uint8, 8
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=y               #! error 27-28: results are not written as uint8 | there are int8, int16, float16, float32, int32, int64
