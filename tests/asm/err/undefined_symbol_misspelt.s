# The nearest name is said.
counter: .word  0
        .word   conter, Counter           #! error 17-23: undefined symbol 'conter' | did you mean 'counter'?
