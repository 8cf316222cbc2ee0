# Only weights become index + value. The assembler refuses `compress` for activations.
#! fault malformed packet: segment 0: compress is for weights, it holds activations
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    load
          ld    activations
        .endseq
        .list   raw
        config  ib=0, load
        .byte   0x80, 1                 #! here
        .half   0
        .word   3
        .byte   1, 0, 1, 0              # activations, broadcast, compressed
        .word   0x40, 4, 0, 0, 0
        .endlist
