# The number of the call makes each one different.
        .macro mark
        .byte \@
        .endm
        mark
        mark
        .irp x, 1, 2
        .byte \@                        # the number of calls so far
        .endr
#! bytes .data 00010202
