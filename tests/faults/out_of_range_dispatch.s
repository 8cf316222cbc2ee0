# A unit's half is smaller than the offset of the list.
#! fault out-of-range access: dispatch of the list at offset 0x7000: half a unit has 0x1000 bytes
#! core cp
        .device "small_units.toml"
        .core   cp
        li      a0, 1
        li      a1, 0x7000
        dispatch a0, a1                 #! here
