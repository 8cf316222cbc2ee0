# A fill is a byte.
        .balign 4, 256                    #! error 20-23: fill: 256 is out of range, -128 to 255
        .balign 4, 0, -1                  #! error 23-25: most bytes to skip: -1 is out of range, 0 to 4294967296
        .balign 4, 0, 1, 2                #! error 9-27: .balign takes other operands | write .balign BYTES [, fill [, most]]
