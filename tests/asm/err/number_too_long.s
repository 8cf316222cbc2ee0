# 64 bits are the most.
        .dword  18446744073709551615
        .dword  18446744073709551616      #! error 17-37: the number does not fit 64 bits
        .quad   0x10000000000000000       #! error 17-36: the number does not fit 64 bits
18446744073709551616: nop                 #! error 1-21: the number does not fit 64 bits
