# There is no such number before, or behind.
        .core   cp
        j       1b                        #! error 17-19: there is no local label '1:' before this line
        j       2f                        #! error 17-19: there is no local label '2:' after this line
1:      j       1b
