# Two registers have 32 bytes.
#! fault bad order index: byte 0 of the index is 32, the bytes are 0 to 31
#! core vc
        .core   vc
        li      a0, 32
        vsplat.b vr2, a0
        vperm   vr3, vr0, vr1, vr2      #! here
