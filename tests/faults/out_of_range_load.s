# Nothing lies behind cp's local memory.
#! fault out-of-range access: load of 4 bytes at 0x01000000: local memory is 0x00000000 to 0x00ffffff
#! core cp
        .device tiny
        .core   cp
        lui     a0, 0x1000
        lw      a1, (a0)                #! here
