# One result is there, two are to be stored.
#! fault queue underflow: st: nothing was written to place 1 \(block 0\) of cluster [01]'s output queue
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    layer
          spu   nonsf
          st                            #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last, out=(unit[0x1000], stride=8, step=4, count=2, pes=8, type=int32)
