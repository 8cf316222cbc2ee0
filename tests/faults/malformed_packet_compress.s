# Only weights become index + value.
#! fault malformed packet: segment 0: compress is for weights, it holds activations
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    load
          ld    activations
        .endseq
        config  ib=0, load
        exe     ib=0, data=(activations unit[0x40:0x44] broadcast compress) #! here
