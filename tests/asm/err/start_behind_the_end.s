# Where _start stands, something must be.
        .core   cp
        nop
_start:                 #! error 1-7: there is no instruction at '_start', where the program begins
