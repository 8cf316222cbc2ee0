# The first record of a register group would be lost: a warning, on every core.
        .core   pe
        trace_begin 4
        trace_begin 4                     #! warning 21-22: register group 4 is used twice in this part
        .core   cp
        trace_begin 5
        trace_begin g=5                   #! warning 23-24: register group 5 is used twice in this part
        nop     1                         #! error 9-18: nop does not take 1 operand | write nop
