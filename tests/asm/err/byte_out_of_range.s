# One less and one more.
        .byte   -129                      #! error 17-21: -129 is out of range, -128 to 255
        .byte   256                       #! error 17-20: 256 is out of range, -128 to 255
        .byte   255, 256, 0               #! error 22-25: 256 is out of range, -128 to 255
