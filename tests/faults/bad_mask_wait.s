# core.wait takes a mask of cores, not of rows: row 1 is bit 17.
#! fault bad mask: the mask 0x2000000 has bit 25 set: there is no such core, only .*
#! core cp
        .device tiny
        .core   cp
        lui     a0, 0x2000
        core.wait a0                    #! here
