# Characters that the language has no use for.
        .byte   1 ` 2                     #! error 19-20: unexpected character '`'
        .byte   ?                         #! error 17-18: unexpected character '?'
        .byte   1 \ 2                     #! error 19-20: unexpected character '\'
        .byte   1, ü                      #! error 20-21: unexpected character 'ü' | names are made of the letters a to z and A to Z, digits, '_', '.' and '$'
