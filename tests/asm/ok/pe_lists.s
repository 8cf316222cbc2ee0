# Several lists; each ends with its mark and begins on a multiple of 4.
        .device tiny
        .core   pe
        .list   a
        trace_begin 1
here:   trace_end 1
        .endlist
        .list   b
        trace_begin 2, to=1
        .byte   0x41, 1, 2, 3
        .endlist
data:   .byte   9
#! bytes .pe.0 61 00 0000 03000000 41 00 0000 03000000 20 000000
#! bytes .pe.0 62 00 0000 02000000 41010203 20 000000 09
#! symbol a 0x10000000 17 object .pe.0
#! symbol here 0x10000008 12 object .pe.0
#! symbol b 0x10000014 13 object .pe.0
#! symbol data 0x10000024 1 object .pe.0
