# A config needs a sequence.
#! fault malformed packet: a config has a sequence, then scales and a table at most once; the segments are: none
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0, 0                    #! here
        .half   0
        .word   1
        .endlist
