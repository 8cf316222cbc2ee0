# Eight PEs write 32 bytes.
        .device tiny
        .output y, int32, 7
        .core   pe
        .seq    s
          st
        .endseq
        config  ib=0, s
        exe     ib=0, last, out=(y, pes=8)  #! error 34-35: results of 8 PEs reach 4 bytes past 'y' | pes=, stride=, step= and count= say what is written
        .seq    twice                   # where they also lie over each other, that alone is said
          st
          st
        .endseq
        config  ib=1, twice
        exe     ib=1, last, out=(y, pes=8)  #! error 34-35: results of 8 PEs reach 8 bytes past 'y' | pes=, stride=, step= and count= say what is written
