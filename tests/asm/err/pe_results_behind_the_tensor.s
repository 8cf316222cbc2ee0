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
        .seq    streams                 # both results are streamed
          spu   nonsf, src=0, dst=0
          spu   nonsf, src=1, dst=1
          st    base=0
        .endseq
        config  ib=2, streams
        exe     ib=2, shift, last, out=(y, step=32, stride=4, pes=7)  #! error 41-42: results of 7 PEs reach 32 bytes past 'y' | pes=, stride=, step= and count= say what is written
        .seq    implied                 # and so are the sums of macs, if there is no spu
          ld    both
          mac   acc=0
          mac   acc=1
        .endseq
        config  ib=3, implied
        exe     ib=3, shift, last, out=(y, step=32, stride=4, pes=7)  #! error 41-42: results of 7 PEs reach 32 bytes past 'y' | pes=, stride=, step= and count= say what is written
