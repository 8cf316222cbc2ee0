# Room is a number from 0 on.
        .space  -1                        #! error 17-19: size: -1 is out of range, 0 to 1073741824
        .zero   -5                        #! error 17-19: size: -5 is out of range, 0 to 1073741824
        .skip   1, 256                    #! error 20-23: fill: 256 is out of range, -128 to 255
        .space                            #! error 9-15: .space takes other operands | write .space BYTES [, fill]
