# The record announces two entries and holds one.
#! fault malformed packet: segment 0: weights record 0 at byte 0 is cut off
#! core pe\[0\]
        .device tiny
        .core   pe
w:      .half   2, 0
        .byte   1
        .seq    load
          ld    weights
        .endseq
        config  ib=0, load
        exe     ib=0, data=(weights w broadcast) #! here
