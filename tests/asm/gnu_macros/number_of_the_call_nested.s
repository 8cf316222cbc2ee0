        .data
        .macro inner
        .byte \@
        .endm
        .macro outer
        .byte \@
        inner
        .byte \@
        inner
        .endm
        outer
        outer
