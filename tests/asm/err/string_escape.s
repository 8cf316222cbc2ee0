# Escapes that there are not.
        .ascii  "\q"                      #! error 18-20: '\q' is no escape | there are \b \f \n \r \t \v \\ \" \' \123 (octal) \x41
        .ascii  "\x"                      #! error 18-20: '\x' is no escape | there are \b \f \n \r \t \v \\ \" \' \123 (octal) \x41
