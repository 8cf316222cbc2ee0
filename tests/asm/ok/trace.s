# Markers on cp and on a row.
        .device tiny
        .core   cp
        trace_begin 1
        nop
        trace_end 1
        .core   pe
        trace_begin 1
        trace_end 1
#! bytes .text.cp 8be00000 13000000 0be00000
