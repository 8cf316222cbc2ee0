# The device has two rows.
        .device tiny
        .core   pe, row=2                 #! error 25-26: row: 2 is out of range, 0 to 1
        .byte   1
        .core   pe, row=-1                #! error 25-27: row: -1 is out of range, 0 to 1
