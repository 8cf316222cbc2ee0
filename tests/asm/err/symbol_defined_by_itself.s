# A circle of one, and of three.
        .equ    a, a + 1                  #! error 20-21: 'a' is defined by itself
        .equ    b, c
        .equ    c, d
        .equ    d, b                      #! error 20-21: 'b' is defined by itself
