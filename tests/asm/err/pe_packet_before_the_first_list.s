# The same, the other way round.
        .core   pe
        trace_begin 0
        .list   a                         #! error 17-18: packets stand before the first list | every packet, or none, stands in a list
        .endlist
