# Parts that there are not; what follows such a line is not looked at.
        .core   cpp                       #! error 17-20: no core that runs programs is called 'cpp' | did you mean 'cp'?
        add     a0, x, nothing
        .word   undefined_here
        .core   dma                       #! error 17-20: no core that runs programs is called 'dma' | there are cp, vc, nnp, fim, pe
        .core   xyz                       #! error 17-20: no core that runs programs is called 'xyz' | there are cp, vc, nnp, fim, pe
l:      frob    1
        .seq    s
        .core                             #! error 9-14: .core takes the name of a core | there are cp, vc, nnp, fim, pe
        .core   5                         #! error 9-18: .core takes the name of a core | there are cp, vc, nnp, fim, pe
        .core   cp, row=0                 #! error 21-24: .core has no operand 'row' | it takes none by name
        .core   pe, row=4                 #! error 25-26: row: 4 is out of range, 0 to 3
        .core   pe, row=-1                #! error 25-27: row: -1 is out of range, 0 to 3
        .core   pe, raw=1                 #! error 21-24: .core has no operand 'raw' | did you mean 'row'?
        .core   cp
        j       l
