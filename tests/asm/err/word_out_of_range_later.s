# What is known at the end is looked at there.
        .byte   LATER                     #! error 17-22: 100000 is out of range, -128 to 255
        .half   LATER                     #! error 17-22: 100000 is out of range, -32768 to 65535
        .equ    LATER, 100000
