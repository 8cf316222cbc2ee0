        .data
        .irp x
        .ascii "[\x]"
        .endr
        .irp x,
        .ascii "[\x]"
        .endr
        .irp x, a,
        .ascii "[\x]"
        .endr
        .irp x, a,, b
        .ascii "[\x]"
        .endr
        .irp x, "", b
        .ascii "[\x]"
        .endr
