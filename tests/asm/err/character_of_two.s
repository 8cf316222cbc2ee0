# A character is one.
        .byte   'ab'                      #! error 19-20: expected ',' before 'b' | a string stands in double quotes
