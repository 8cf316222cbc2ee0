# Every packet, or none, stands in a list.
        .core   pe
        .list   a
        trace_begin 0
        .endlist
        trace_end 0                       #! error 9-18: trace_end is outside of a list | this part has lists; .list begins one
