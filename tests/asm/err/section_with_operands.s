# .text, .data and .bss take none.
        .core   cp
        .text   1                         #! error 9-18: .text takes other operands | write .text
        .data   0                         #! error 9-18: .data takes other operands | write .data
        .bss    "x"                       #! error 9-20: .bss takes other operands | write .bss
