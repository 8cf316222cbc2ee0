# Shifts by 64 and more give 0: a warning.
        .word   1 << 64                   #! warning 17-24: shift by 64 is out of range, 0 to 63; the result is 0
        .dword  1 >> 100                  #! warning 17-25: shift by 100 is out of range, 0 to 63; the result is 0
        .dword  1 << -1                   #! warning 17-24: shift by -1 is out of range, 0 to 63; the result is 0
        .byte   256                       #! error 17-20: 256 is out of range, -128 to 255
