# Without .endr.
        .core cp
        .irp x, 1, 2                      #! error 9-13: '.irp' without '.endr'
        nop
