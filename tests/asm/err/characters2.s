# Strings and characters.
        .ascii  "\q"                      #! error 18-20: '\q' is no escape | there are \b \f \n \r \t \v \\ \" \' \123 (octal) \x41
        .byte   'é'                       #! error 17-20: a character is one byte | a string can hold any text
        .byte   '\z'                      #! error 18-20: '\z' is no escape | there are \b \f \n \r \t \v \\ \" \' \123 (octal) \x41
        .ascii  "\x"                      #! error 18-20: '\x' is no escape | there are \b \f \n \r \t \v \\ \" \' \123 (octal) \x41
        .ascii  'a'                       #! error 17-20: a string is needed here
        .ascii  5                         #! error 17-18: a string is needed here
        .byte   "text"                    #! error 17-23: a number is needed here, not a string
        .asciz  name                      #! error 17-21: a string is needed here
        .word   "x.npy"[0]                #! error 17-27: a number is needed here, not a string
