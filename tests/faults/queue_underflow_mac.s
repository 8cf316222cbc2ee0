# A mac of a sequence that loads no weights.
#! fault queue underflow: mac without weights: no ld of its sequence has loaded any
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    layer
          mac                           #! here
        .endseq
        config  ib=0, layer
        exe     ib=0
