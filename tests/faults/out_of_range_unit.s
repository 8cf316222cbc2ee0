# tiny has two memory units.
#! fault out-of-range access: .* there is no on-chip unit 2, units are 0 to 1
#! core cp
        .device tiny
        .core   cp
        lui     a0, 0x10200
        sw      a0, (a0)                #! here
