# tiny has the units 0 and 1.
#! fault bad mask: mem.swap with the mask 0x4: there is no unit 2, the device has 2
#! core cp
        .device tiny
        .core   cp
        li      a0, 1 << 2
        mem.swap a0                     #! here
