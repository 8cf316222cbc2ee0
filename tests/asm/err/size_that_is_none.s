# A size is a number of 32 bits.
x:      .word   1
        .size   x, -1                     #! error 20-22: a size is a number from 0 to 4294967295
        .size   x, 1 << 32                #! error 20-27: a size is a number from 0 to 4294967295
        .size   x                         #! error 9-18: .size takes other operands | write .size NAME, bytes
