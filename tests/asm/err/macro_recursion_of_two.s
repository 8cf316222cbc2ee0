# Two macros that use each other, in a conditional.
        .core cp
        .macro ping
        pong
        .endm
        .macro pong
        ping                              #! error 9-13: more than 100 expansions in each other
        .endm
        .if 1
        ping
        .endif
