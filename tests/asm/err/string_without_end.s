# A string ends on its line; the next line is none of it.
#! error 3:17-21: a string without its end | it ends with '"'
        .ascii  "abc
        .byte   1
        .byte   256                       #! error 17-20: 256 is out of range, -128 to 255
