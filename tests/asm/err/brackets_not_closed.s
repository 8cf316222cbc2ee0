# Every bracket wants its partner.
        .word   (1 + 2                    #! error 23-24: the line ends where ')' should be
        .word   ((1)                      #! error 21-22: the line ends where ')' should be
        .core   cp
        lw      a0, 4(sp                  #! error 25-26: the line ends where ')' should be
