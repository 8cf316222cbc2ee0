# Words that are nearly conditionals are taken for them.
        .core cp
        .iff 1                            #! error 9-13: unknown directive '.iff' | did you mean '.if'?
        nop
        .esle                             #! error 9-14: unknown directive '.esle' | did you mean '.else'?
        nonsense
        .endiff
