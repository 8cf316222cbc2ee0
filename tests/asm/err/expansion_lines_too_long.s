# Lines that double and double.
        .core cp
        .irp x, 0
        .irp y, "\x\x\x\x\x\x\x\x\x\x\x\x\x\x\x\x"
        .irp z, "\y\y\y\y\y\y\y\y\y\y\y\y\y\y\y\y"
        .irp u, "\z\z\z\z\z\z\z\z\z\z\z\z\z\z\z\z"  #! error 9-51: a line expands to more than 65536 characters
        .irp v, "\u\u\u\u\u\u\u\u\u\u\u\u\u\u\u\u"
        .irp w, "\v\v"
        .endr
        .endr
        .endr
        .endr
        .endr
        .endr
