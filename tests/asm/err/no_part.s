# Instructions before any part: said once.
        .device base
        nop                               #! error 9-12: 'nop' is in no part | begin one, as in '.core cp'
        nop
        add     a0, a1, a2
        .word   1
        .wrd    2                         #! error 9-13: unknown directive '.wrd' | did you mean '.word'?
