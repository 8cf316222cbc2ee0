# Powers of two up to 64 KiB.
        .balign 3                         #! error 17-18: an alignment is a power of two, not 3
        .balign -4                        #! error 17-19: alignment in bytes: -4 is out of range, 0 to 65536
        .align  17                        #! error 17-19: exponent of the alignment: 17 is out of range, 0 to 16
        .align  -1                        #! error 17-19: exponent of the alignment: -1 is out of range, 0 to 16
        .p2align                          #! error 9-17: .p2align takes other operands | write .p2align POWER [, fill [, most]]
