# No branch follows .else.
        .core cp
        .if 0
        .else
        .elseif 1                         #! error 9-16: '.elseif' after '.else' | the .else is at tests/asm/err/if_behind_else.s:4
        nop
        .else                             #! error 9-14: '.else' after '.else' | the .else is at tests/asm/err/if_behind_else.s:4
        nop
        .endif
