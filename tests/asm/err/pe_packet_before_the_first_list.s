# The same, the other way round.
        .core   pe
        trace_begin 0
        .list   a                         #! error 17-18: packets are before the first list | put all packets into lists, or none
        .endlist
