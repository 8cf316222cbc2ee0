# Ends of what never began.
        .core cp
        nop
        .endm                             #! error 9-14: '.endm' without '.macro'
        .endr                             #! error 9-14: '.endr' without '.rept', '.irp' or '.irpc'
