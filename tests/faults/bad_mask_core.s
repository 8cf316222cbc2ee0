# There is no core 12 in any device.
#! fault bad mask: core.start of core 12: there is no such core, only 0 cp, 1 dma, 2 vc, 3 nnp, 8 fim\[0\], 9 fim\[1\], 16 pe\[0\], 17 pe\[1\]
#! core cp
        .device tiny
        .core   cp
        li      a0, 12
        core.start a0, zero             #! here
