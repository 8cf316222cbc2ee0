# No more than the device has.
        .device tiny
        .core   pe
        .sparse "weights.npy", clusters=3  #! error 41-42: clusters: 3 is out of range, 1 to 2
        .sparse "weights.npy", pes=0      #! error 36-37: pes: 0 is out of range, 1 to 4
        .sparse "weights.npy", clusters=1, clusters=1  #! error 44-54: the operand clusters is given twice
