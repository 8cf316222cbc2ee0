# The macro ends with the round at the latest.
        .core cp
        .rept 2
        .macro m                          #! error 9-15: '.macro' without '.endm'
        nop
        .endr
        nop
