# There is nothing to leave.
        .core cp
        .exitm                            #! error 9-15: '.exitm' is in no macro and no repetition
        .if 1
        .exitm                            #! error 9-15: '.exitm' is in no macro and no repetition
        .endif
        nop
