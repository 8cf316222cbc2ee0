# A repetition without its end takes the rest of the file.
        .core cp
        nop
        .rept 3                           #! error 9-14: '.rept' without '.endr'
        nop
        .if 1
        .endif
