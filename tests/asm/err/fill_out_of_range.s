# Repeats from 0 on, sizes up to eight.
        .fill   -1                        #! error 17-19: repeat: -1 is out of range, 0 to 1073741824
        .fill   1, 9                      #! error 20-21: size: 9 is out of range, 0 to 8
        .fill   1, -1                     #! error 20-22: size: -1 is out of range, 0 to 8
        .fill                             #! error 9-14: .fill takes other operands | write .fill REPEAT [, size [, value]]
