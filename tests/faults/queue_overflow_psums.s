# A block of partial sums has four places, one for each accumulator.
#! fault queue overflow: 5 partial sums a PE, a block takes 4
#! core pe\[0\]
        .device tiny
        .core   pe
p:      .word   1, 2, 3, 4, 5
        .seq    load
          ld    psums                   #! here
        .endseq
        config  ib=0, load
        exe     ib=0, data=(psums p broadcast)
