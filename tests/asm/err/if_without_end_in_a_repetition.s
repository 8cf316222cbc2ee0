# A round's conditionals end with it.
        .core cp
        .rept 2
        .if 1                             #! error 9-12: '.if' without '.endif'
        nop
        .endr
