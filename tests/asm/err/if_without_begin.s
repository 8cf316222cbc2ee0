# Ends and branches of no conditional.
        .core cp
        .endif                            #! error 9-15: '.endif' without '.if'
        .else                             #! error 9-14: '.else' without '.if'
        .elseif 1                         #! error 9-16: '.elseif' without '.if'
        .if 0
        .endif
        .endif                            #! error 9-15: '.endif' without '.if'
