# In brackets a blank separates nothing, a comma does.
        .data
        .macro three a, b, c
        .ascii "[\a|\b|\c]"
        .endm
        three (a b) 3
        three [1 , 2] 3
        three (1, 2), 3
        three ((a b) c) d
        three {a b}
        three (a] b) c
