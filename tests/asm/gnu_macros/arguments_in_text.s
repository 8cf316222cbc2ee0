        .data
        .macro put a, b
        \a \b
        .endm
        put .byte, 65
        put .byte 66
        put "here: .byte" 67
        put ".byte 1, 2 ;" ".byte 3"
        put .byte "4 # comment"
        put .byte "5 /* comment */ + 1"
        .byte . - here
