# Nobody has defined it.
        .word   nowhere                   #! error 17-24: undefined symbol 'nowhere'
        .core   cp
        j       nowhere                   #! error 17-24: undefined symbol 'nowhere'
        la      a0, nowhere               #! error 21-28: undefined symbol 'nowhere'
