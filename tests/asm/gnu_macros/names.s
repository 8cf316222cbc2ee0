# Names of macros and parameters: dots, dollars, underscores, digits.
        .data
        .macro _m.1$ a.b $c _d e1
        .ascii "\a.b \$c \_d \e1"
        .endm
        _m.1$ 1 2 3 4
        .macro .dot a
        .byte \a
        .endm
        .dot 5
