# There is no core 9 in any device.
#! fault bad mask: core.start of core 9: there is no such core, only 0 cp, 1 dma, 2 vc, 3 nnp, 16 pe\[0\], 17 pe\[1\]
#! core cp
        .device tiny
        .core   cp
        li      a0, 9
        core.start a0, zero             #! here
