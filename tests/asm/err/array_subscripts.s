# Subscripts within the dimensions, no more of them than there are.
m:      .array  int8, 2, 3
        .word   m[2]                      #! error 19-20: 'm' in dimension 0: 2 is out of range, 0 to 1
        .word   m[0, 3]                   #! error 22-23: 'm' in dimension 1: 3 is out of range, 0 to 2
        .word   m[0, 0, 0]                #! error 17-27: 'm' has 2 dimensions, 2 x 3
        .word   m[0:1, 0]                 #! error 19-22: only the last of the numbers may be a range
        .word   m[1:1]                    #! error 19-22: the range 1:1 is empty
