# Twenty results from the last block of 16 on.
#! fault queue overflow: 20 results from place 240 on, the output queue holds 256
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    store
          st    base=15                 #! here
        .endseq
        config  ib=0, store
        exe     ib=0, last, out=(unit[0x1000], stride=80, step=4, count=20, pes=8, type=int32)
