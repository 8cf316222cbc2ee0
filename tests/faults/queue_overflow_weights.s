# The weight queue holds 1024 entries.
#! fault queue overflow: cluster 0, PE 0: 1025 weights, the queue holds 1024
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   1025
        .space  1025 * 3                # u16 index, i8 value
        .seq    load
          ld    weights                 #! here
        .endseq
        config  ib=0, load
        exe     ib=0, data=(weights w broadcast)
