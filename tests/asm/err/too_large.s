# Each section fits into external memory, all of them together do not.
        .bss
        .space  0x8000000
        .output y, int8, 0x8000000      #! error 9-35: the program grows to 268435520 bytes, external memory has 268435456
