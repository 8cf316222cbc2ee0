# Once for each character; in a string blanks count.
        .irpc c, abc
        .ascii "\c\()."
        .endr
        .irpc c, "x y"
        .ascii "\c"
        .endr
#! bytes .data 61 2e622e63 2e782079
