# What stands in the brackets is a register.
        .core   cp
        lw      a0, 0(8)                  #! error 23-24: '8' is no register | a register, zero to t6
        sw      a0, 0(word)               #! error 23-27: 'word' is no register | a register, zero to t6
