# Arguments by position, between commas and blanks.
        .data
        .macro three a, b, c
        .ascii "[\a|\b|\c]"
        .endm
        three 1, 2, 3
        three 1 2 3
        three 1,2 3
        three 1
        three
        three , 2
        three 1,,3
        three 1, 2, 3,
