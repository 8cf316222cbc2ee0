# A program is for one device.
        .device tiny
        .device large                     #! error 17-22: the device is tiny already
