# Eight results of four bytes do not fit behind this offset.
#! fault out-of-range access: results of cluster 1 go to offsets 0x7fff8 to 0x80007, half a unit has 0x80000 bytes
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    store
          spu   nonsf
          st
        .endseq
        config  ib=0, store
        exe     ib=0, last, out=(unit[0x7ffe8], stride=4, step=4, count=1, pes=8, type=int32) #! here
