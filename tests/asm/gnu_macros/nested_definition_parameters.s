# The outer parameters are gone when the inner macro is made.
        .data
        .macro outer a
        .macro inner\a b
        .ascii "\a \b \\b"
        .endm
        .endm
        outer 1
        inner1 n
        outer 2
        inner2 t
