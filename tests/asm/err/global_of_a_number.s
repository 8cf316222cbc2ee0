# .global takes names.
        .global 5                         #! error 17-18: a symbol is needed here
        .global "x"                       #! error 17-20: a symbol is needed here
        .global                           #! error 9-16: .global takes other operands | write .global NAME, ...
