# A sequence from a file.
        .device tiny
        .core pe, row=0
        .include "include/layer.inc"
        .list packets
        config ib=0, layer
        .endlist
#! bytes .pe.0 00010000 03000000 03000000 16000000
#! bytes .pe.0 14000000 20000200 02000000 00000100
#! bytes .pe.0 0100 00000000 00040000
