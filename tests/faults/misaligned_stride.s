# Each lane of a stride is a multiple of the element.
#! fault misaligned access: store of 4 bytes at 0x80000042, which is no multiple of 4
#! core vc
        .core   vc
        lui     a0, 0x80000
        addi    a0, a0, 64
        li      a1, 2
        vsts.w  vr0, a0, a1             #! here
