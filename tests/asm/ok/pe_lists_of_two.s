# Lists stand behind one another, each with its end mark, on multiples of four.
        .core   pe
        .list   a
        trace_begin 1
        .endlist
        .list   b
        trace_end 1
        .endlist
#! bytes .pe.0 61 00 0000 0f000000 20 000000 41 00 0000 0f000000 20
#! symbol a 0x10000000 9 object .pe.0
#! symbol b 0x1000000c 9 object .pe.0
