# Words that are nearly macros or their directives.
        .core cp
        .macro twice value
        add \value, \value, \value
        .endm
        twise a0                          #! error 9-14: cp has no instruction 'twise' | did you mean 'twice'?
        .mcaro x                          #! error 9-15: unknown directive '.mcaro' | did you mean '.macro'?
