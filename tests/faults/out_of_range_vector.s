# Registers of the cores are no memory for vectors.
#! fault out-of-range access: load of 16 bytes at 0x20002000: the register id of vc is read as a whole word of 4 bytes
#! core vc
        .core   vc
        lui     a0, 0x20002
        vld     vr0, (a0)               #! here
