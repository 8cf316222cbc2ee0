# No more than external memory.
        .space  1 << 40                   #! error 17-24: size: 1099511627776 is out of range, 0 to 1073741824
