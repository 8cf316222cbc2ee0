# Only PE 0 of each of the two clusters writes: results of more PEs would lie over each other.
        .device tiny
        .output y, int32, 4
        .core   pe
        .seq    sums, reduction=add
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          st    base=1
        .endseq
        config  ib=0, sums
        exe     ib=0, last, out=(y, stride=1, step=8, count=2)
        exe     ib=0, last, out=(y, stride=1, step=4, count=2)      #! warning 34-35: PEs write over each other's results: each writes 2 elements, but the next PE begins 1 byte later | such as stride=2
