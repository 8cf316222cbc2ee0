# Words and brackets are no numbers.
        .float  one                       #! error 17-20: 'one' is no number
        .double 1.2.3                     #! error 17-22: '1.2.3' is no number
        .float16 "1.0"                    #! error 18-23: a floating-point number is needed here
