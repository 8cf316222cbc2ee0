# Two macros of one name, in whatever case.
        .core cp
        .macro twice x
        add \x, \x, \x
        .endm
        .macro Twice                      #! error 16-21: macro 'Twice' is defined twice | the first is at tests/asm/err/macro_twice.s:3; .purgem forgets it
        .endm
        twice a0
