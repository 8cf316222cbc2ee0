# Data of a part are aligned as they ask for.
        .core   pe
        .byte   1
        .balign 64
a:      .byte   2
#! section .pe.0 0x10000000 65 align 64
#! symbol a 0x10000040 1 object .pe.0
