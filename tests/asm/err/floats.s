# Floating-point numbers that do not fit.
        .float  1e39                      #! error 17-21: 1e39 is out of range, float holds up to 3.4028235e+38
        .float  1e-50                     #! error 17-22: 1e-50 is out of range, the smallest float above 0 is 1.4012985e-45
        .float  -1e400                    #! error 17-23: -1e400 is out of range, float holds up to 3.4028235e+38
        .float16 65520                    #! error 18-23: 65520 is out of range, float16 holds up to 65504
        .float16 1e-9                     #! error 18-22: 1e-9 is out of range, the smallest float16 above 0 is 5.9604645e-08
        .double 1e309                     #! error 17-22: 1e309 is out of range, double holds up to 1.7976931e+308
        .float  1 + 2                     #! error 17-22: a floating-point number is needed here
        .float  "1"                       #! error 17-20: a floating-point number is needed here
        .float  abc                       #! error 17-20: 'abc' is no number
        .float  1.5x                      #! error 17-21: '1.5x' is no number
        .float  - - 1                     #! error 17-22: a floating-point number is needed here
