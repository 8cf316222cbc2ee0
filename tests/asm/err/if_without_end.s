# Conditionals without end, each at its start.
        .core cp
        .if 1                             #! error 9-12: '.if' without '.endif'
        .ifdef x                          #! error 9-15: '.ifdef' without '.endif'
        .else
        nop
