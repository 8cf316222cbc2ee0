# The input buffer holds 4096 activations.
#! fault queue overflow: 5000 activations from element 0 on, the input buffer holds 4096
#! core pe\[0\]
        .device tiny
        .core   pe
x:      .space  5000
        .seq    load
          ld    activations             #! here
        .endseq
        config  ib=0, load
        exe     ib=0, data=(activations x broadcast)
