# A word is read at an address that is no multiple of 4.
#! fault misaligned access: load of 4 bytes at 0x00010002, which is no multiple of 4
#! core cp
        .core   cp
_start: lui     a0, 0x10
        lw      a1, 2(a0)               #! here
