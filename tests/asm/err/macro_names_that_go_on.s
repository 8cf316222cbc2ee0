# A name reaches as far as it can: \c. is no \c.
        .core cp
        .data
        .irpc c, ab
        .ascii "\c."                      #! error 17-19: '\c' is no escape | '\c.' is one name; write \c\().; the same in 1 more expansion
        .endr
        .macro pair reg, value
        .word \reg1, \valu + 1            #! error 15-16: unexpected character '\' | '\reg1' is one name; write \reg\()1
        .endm
        pair 1, 2
