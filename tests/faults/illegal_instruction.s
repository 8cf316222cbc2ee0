# A word that is no instruction: here data into which the program runs.
#! fault illegal instruction: the word 0xffffffff: no instruction of cp
#! core cp
        .core   cp
        nop
        .word   0xffffffff              #! here
