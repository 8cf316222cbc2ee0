# Markers on cp, on vc and on a row.
        .device tiny
        .core   cp
        trace_begin 1
        nop
        trace_end 1
        .core   vc
        trace_begin 3
        trace_end 3
        .core   pe
        trace_begin 1
        trace_end 1
#! bytes .text.cp 8be00000 13000000 0be00000
#! bytes .text.vc 8be00100 0be00100
