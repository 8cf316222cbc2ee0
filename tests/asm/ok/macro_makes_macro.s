# A macro defines macros.
        .macro make name, value
        .macro \name x
        .byte \value, \x
        .endm
        .endm
        make one, 1
        make two, 2
        one 5
        two 6
#! bytes .data 01050206
