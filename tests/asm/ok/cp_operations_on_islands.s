# fim.send: the number of an operation in bits 10 to 7, funct3 111 of custom-0.
        .core   cp
        fim.send 6, a0, a1
        fim.send 9, s1, zero
        fim.send 0, zero, zero
#! bytes .text.cp 0b73b500 8bf40400 0b700000
