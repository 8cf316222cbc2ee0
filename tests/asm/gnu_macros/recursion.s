        .data
        .macro count from, to
        .byte \from
        .if \to - \from
        count "(\from + 1)", \to
        .endif
        .endm
        count 0, 5
