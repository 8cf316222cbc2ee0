# Four bits say up to 15, there are eight lanes.
#! fault bad order index: entry 0 of the order is 15, the lanes are 0 to 7
#! core vc
        .core   vc
        li      gr9, 0x7654321f
        pmac.u16 vr3, vr0, vr1, gr9, acc #! here
