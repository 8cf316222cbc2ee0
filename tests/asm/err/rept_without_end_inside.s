# The .endr belongs to the inner one.
        .core cp
        .rept 3                           #! error 9-14: '.rept' without '.endr'
        .irp x, 1, 2
        nop
        .endr
