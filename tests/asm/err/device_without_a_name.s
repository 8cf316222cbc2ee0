# .device wants one name.
        .device                           #! error 9-16: .device takes other operands | write .device NAME
        .device tiny, base                #! error 9-27: .device takes other operands | write .device NAME
        .device 5                         #! error 17-18: the name of a device is needed here
