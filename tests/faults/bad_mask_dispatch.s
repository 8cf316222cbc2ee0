# A mask of cores where a mask of rows is wanted.
#! fault bad mask: dispatch with the mask 0x10000: there is no unit 16, the device has 2
#! core cp
        .device tiny
        .core   cp
        lui     a0, 0x10
        dispatch a0, zero               #! here
