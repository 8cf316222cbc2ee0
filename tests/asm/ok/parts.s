# Parts in any order; a part goes on where it ended.
        .device tiny
        .core   pe, row=1
a:      .byte   1
        .core   cp
        nop
        .core   pe, row=0
b:      .byte   2
        .core   pe, row=1
c:      .byte   3
        .core   cp
last:   nop
        .core   pe
d:      .byte   4
#! bytes .text.cp 13000000 13000000
#! bytes .pe.0 0204
#! bytes .pe.1 0103
#! symbol a 0x10100000 1 object .pe.1
#! symbol c 0x10100001 1 object .pe.1
#! symbol d 0x10000001 1 object .pe.0
