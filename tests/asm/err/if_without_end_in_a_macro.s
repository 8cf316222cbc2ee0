# A macro's conditionals end with it.
        .core cp
        .macro m x
        .if \x                            #! error 9-12: '.if' without '.endif'
        nop
        .endm
        m 1
        m 0
        nop
#! error 4:9-12: '.if' without '.endif'
