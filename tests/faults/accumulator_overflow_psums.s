# Two partial sums that are each in range, and their sum is not.
#! fault accumulator overflow: cluster 0, PE 0: accumulator 0 holds 2000000000, and the partial sum 2000000000 is to be added
#! core pe\[0\]
        .device tiny
        .core   pe
p:      .word   2000000000
        .seq    twice
          ld    psums, base=1
          ld    psums, base=1           #! here
        .endseq
        config  ib=0, twice
        exe     ib=0, data=(psums p broadcast)
