# A character is one.
        .byte   'ab'                      #! error 19-20: expected ',' before 'b' | write a string in double quotes
