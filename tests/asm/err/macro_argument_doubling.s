# An argument that grows eightfold a call.
        .core cp
        .macro grow x
        grow \x\x\x\x\x\x\x\x             #! error 9-30: a line expands to more than 65536 characters
        .endm
        grow 12345678
