# A vector register is loaded from multiples of 16.
#! fault misaligned access: load of 16 bytes at 0x80000008, which is no multiple of 16
#! core vc
        .core   vc
        lui     a0, 0x80000
        vld     vr0, 8(a0)              #! here
