# One less and one more.
        .word   -2147483649               #! error 17-28: -2147483649 is out of range, -2147483648 to 4294967295
        .word   4294967296                #! error 17-27: 4294967296 is out of range, -2147483648 to 4294967295
        .long   1 << 32                   #! error 17-24: 4294967296 is out of range, -2147483648 to 4294967295
