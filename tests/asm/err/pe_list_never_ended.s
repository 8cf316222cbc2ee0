# A list wants its .endlist.
        .core   pe
        .list   a                         #! error 9-18: a list without its .endlist
        trace_begin 0
        .list   b                         #! error 9-18: a list without its .endlist
        trace_begin 1
