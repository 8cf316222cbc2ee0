        .data
        .macro fib n, a, b
        .byte \a
        .if \n
        fib "(\n - 1)", "(\b)", "(\a + \b)"
        .endif
        .endm
        fib 10, 0, 1
