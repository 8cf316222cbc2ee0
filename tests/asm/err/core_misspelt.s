# A core that there is not; what follows is taken without a word.
        .core   cpp                       #! error 17-20: no core that runs programs is called 'cpp' | did you mean 'cp'?
        nop
        frobnicate
        .core   qwerty                    #! error 17-23: no core that runs programs is called 'qwerty' | there are cp, vc, nnp, fim, pe
        nop
