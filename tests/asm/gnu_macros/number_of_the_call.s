        .data
        .macro m
l\@:    .byte \@, l\@ - l0
        .endm
        m
        m
        .rept 2
        m
        .endr
        .irp x, 1, 2
        .byte \@ + \x
        .endr
        m
