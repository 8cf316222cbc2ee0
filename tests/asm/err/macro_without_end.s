# The rest of the file is the macro.
        .core cp
        .macro twice x                    #! error 9-15: '.macro' without '.endm'
        addi \x, \x, 1
        .endr
