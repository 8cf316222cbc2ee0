# The special function reads block 2 of the output queue.
#! fault queue underflow: spu: nothing was written to place 32 \(block 2\) of cluster 0's output queue
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    layer, activation=relu
          spu   activation, src=2       #! here
        .endseq
        config  ib=0, layer
        exe     ib=0, last
