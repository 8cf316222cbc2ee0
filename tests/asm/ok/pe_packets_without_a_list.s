# Packets that stand in no list are the part's one list.
        .core   pe
        trace_begin 1
        trace_end 1
#! bytes .pe.0 61 00 0000 0f000000 41 00 0000 0f000000 20
#! symbol _list.0 0x10000000 17 object .pe.0
