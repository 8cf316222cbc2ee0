# Advice to tools takes anything and changes nothing.
        .hint
        .hint   balance, threads=4
        .byte   1
        .hint   "text", (1, 2)
        .byte   2
#! bytes .data 01 02
