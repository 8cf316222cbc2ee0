# After a reduction PE 0 of each cluster alone writes: PE indices 0 and 4 (tiny: clusters of 4 PEs).
        .device tiny
        .output y, int32, 17
        .output z, int32, 2
        .core   pe
        .seq    sums, reduction=add
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          st    base=1
        .endseq
        .seq    positive, reduction=max, activation=relu
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          spu   activation, src=1, dst=2
          st    base=2
        .endseq
        .seq    chained, reduction=add
          mac   sfu
          spu   reduce, dst=3
          st    base=3
        .endseq
        .seq    scalars, reduction=scalar_add
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          spu   nonsf, src=9, dst=5
          st    base=5
        .endseq
        .seq    elsewhere
          st    base=1
        .endseq
        config  ib=0, sums
        config  ib=1, positive
        config  ib=2, chained
        config  ib=3, scalars
        config  ib=4, elsewhere
        exe     ib=0, last, out=(y, stride=16, step=4)
        exe     ib=0, shift, last, out=(y, stride=16, step=4)
        exe     ib=1, last, out=(y, stride=16, step=4)
        exe     ib=2, last, out=(y, stride=16, step=4)
        exe     ib=3, last, out=(y, stride=16, step=4)
        exe     ib=4, last, out=(y, stride=16, step=4)
        exe     ib=0, last, out=(z, stride=1)
        exe     ib=0, last, out=(z, stride=0), to=1
        exe     ib=0, last, out=(y, stride=16, step=4, pes=5)
        exe     ib=0, last, out=(z, stride=16, pes=4)
