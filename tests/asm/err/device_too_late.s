# What stands before has settled the device.
        .core   pe, row=1
        .byte   1
        .device tiny                      #! error 17-21: .device comes too late | write it before everything that depends on the device
