# .data.cp stands behind the code, in local memory.
        .core   cp
_start: la      a0, table
        .section .data.cp
table:  .word   0x11111111
        .text
        lw      a1, 0(a0)
#! section .text.cp 0x10000 12 align 4
#! section .data.cp 0x10010 4 align 16
#! symbol table 0x10010 4 object .data.cp
#! bytes .text.cp 17050000 13050501 83250500
