# A character is one.
        .byte   'ab'                      #! error 19-20: expected ',' before 'b' | 'a' is one character; write a string in double quotes
