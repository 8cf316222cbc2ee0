# .endm ends no repetition.
        .core cp
        .irpc x, 12                       #! error 9-14: '.irpc' without '.endr'
        nop
        .endm
