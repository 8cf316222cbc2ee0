# Once for each value; once with nothing, if there is none.
        .irp x, 1, 2 3, "4, 5"
        .byte \x
        .endr
        .irp x
        .ascii "[\x]"
        .endr
#! bytes .data 010203 04055b5d
