# Dimensions from 1 on.
        .input  x, int8, 0                #! error 26-27: dimension: 0 is out of range, 1 to 2147483647
        .output y, int8, 4, -1            #! error 29-31: dimension: -1 is out of range, 1 to 2147483647
