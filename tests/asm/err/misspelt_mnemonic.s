# What was probably meant is said, and taken: its operands are looked at.
        .core   cp
        addd    a0, a1, a2                #! error 9-13: cp has no instruction 'addd' | did you mean 'add'?
        subb    a0, a1                    #! error 9-13: cp has no instruction 'subb' | did you mean 'sub'?
