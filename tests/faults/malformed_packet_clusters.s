# A packet that no cluster takes.
#! fault malformed packet: the cluster mask is 0x0, the row has 2 clusters
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0x60, 0                 #! here
        .half   0
        .word   0
        .endlist
