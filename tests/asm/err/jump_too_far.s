# A jump reaches a mebibyte.
        .core   cp
near:   nop
        .space  1 << 20
        j       near                      #! error 17-21: target: the distance -1048580 is out of range, -1048576 to 1048574
