# A macro hides the instruction of its name.
        .text
        .macro not a, b
        xori \a, \b, -2
        .endm
        not a0, a1
        .purgem not
        not a0, a1
