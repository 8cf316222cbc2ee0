# A config needs a sequence.
#! fault malformed packet: a config has one segment, a sequence; the segments are: none
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0, 0                    #! here
        .half   0
        .word   1
        .endlist
