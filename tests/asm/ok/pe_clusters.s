# to= gives the mask of clusters.
        .device tiny
        .core   pe
        .list   l
        trace_begin 0, to=all
        trace_begin 1, to=0
        trace_begin 2, to=1
        trace_begin 3, to=(0, 1)
        trace_begin 4, to=(1)
        .endlist
#! at .pe.0+0x04 03
#! at .pe.0+0x0c 01
#! at .pe.0+0x14 02
#! at .pe.0+0x1c 03
#! at .pe.0+0x24 02
