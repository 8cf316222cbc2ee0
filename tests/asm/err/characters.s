#! error 5:17-24: a string without its end | it ends with '"'
#! error 6:17-18: a character without its end
#! error 17:17-24: a string without its end | it ends with '"'
# Strings and characters.
        .ascii  "no end
        .byte   '
        .byte   0
        .byte   1
        .byte   2
        .byte   3
        .byte   4
        .byte   5
        .byte   6
        .byte   7
        .byte   8
        .byte   9
        .ascii  "again;
