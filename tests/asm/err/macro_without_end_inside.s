# Macros in macros have their own .endm.
        .core cp
        .macro outer                      #! error 9-15: '.macro' without '.endm'
        .macro inner
        nop
        .endm
