# The same device may be named again.
        .device tiny
        .device tiny
        .core   pe, row=1
        .byte   1
