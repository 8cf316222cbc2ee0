# A character is one.
        .byte   'ab'                      #! error 19-20: unexpected 'b', expected ',' or the end of the line
