# Without a segment, ld psums takes what the output queue holds, and this is nothing.
#! fault queue underflow: ld psums: nothing was written to block 3 of the output queue of cluster 0
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    layer
          ld    psums, base=3           #! here
        .endseq
        config  ib=0, layer
        exe     ib=0
