# Symbols defined by themselves.
        .equ    a, b + 1
        .equ    b, a + 1                  #! error 20-21: 'a' is defined by itself
        .equ    c, c                      #! error 20-21: 'c' is defined by itself
        .word   a
        .word   c
