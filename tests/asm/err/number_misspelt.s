# Digits of another base, letters behind a number.
        .word   0xfg                      #! error 17-21: '0xfg' is no number
        .word   0b102                     #! error 17-22: '0b102' is no number
        .word   089                       #! error 17-20: '089' is no octal number | a leading 0 means octal
        .word   12abc                     #! error 17-22: '12abc' is no number
