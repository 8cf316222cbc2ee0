# .text, .data and .bss take none.
        .core   cp
        .text   1
        .data   0
        .bss    "x"                       #! error 17-20: a number is needed here, not a string
