# A macro hides the instruction of its name.
        .core cp
        .macro not a, b
        xori \a, \b, 15
        .endm
        not a0, a1
        .purgem not
        not a0, a1
#! bytes .text.cp 13c5f500 13c5f5ff
