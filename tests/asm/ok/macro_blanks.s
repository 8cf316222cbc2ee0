# Blanks between words, strings or characters separate; others are dropped.
        .macro two a, b
        .ascii "\a|\b;"
        .endm
        two 1 + 2, x
        two (1 2) 3
        two 8(sp) 3
        two 'a' ,'b'
#! bytes .data 312b327c 783b2831 20322933 7c3b3828
#! bytes .data 73702933 7c3b3937 7c39383b
