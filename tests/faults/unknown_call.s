# ecall knows exit and write.
#! fault unknown call: ecall asks for call 1234; a7 is 93 \(exit\) or 64 \(write\)
#! core cp
        .core   cp
        li      a7, 1234
        ecall                           #! here
