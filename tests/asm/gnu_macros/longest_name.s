# A name reaches as far as it can; what is no parameter stays as it is.
        .data
        .macro m a, ab
        .ascii "\a\ab\a\()b"
        .ascii "\a\().x"
        .ascii "\a-\a"
        .endm
        m 1 2
