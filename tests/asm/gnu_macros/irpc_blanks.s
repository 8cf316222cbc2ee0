        .data
        .irpc c, a b c
        .ascii "[\c]"
        .endr
        .irpc c, "a b"
        .ascii "[\c]"
        .endr
        .irpc c, 1 + 2, 3
        .ascii "[\c]"
        .endr
        .irpc c
        .ascii "[\c]"
        .endr
        .irpc c, ""
        .ascii "[\c]"
        .endr
        .irpc c, 'a'
        .ascii "[\c]"
        .endr
