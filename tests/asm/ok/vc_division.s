# Division, root, exponential, and the high half of a product.
        .core   vc
        vdiv.f32    vr8, vr1, vr8
        vdiv.f32    vr0, vr15, vr14
        vsqrt.f32   vr8, vr1
        vsqrt.f32   vr15, vr15
        vexp.f32    vr8, vr1
        vexp.f32    vr0, vr14
        vmulh.w     vr8, vr1, vr8
        vmulh.w     vr15, vr14, vr0
        vmulhu.w    vr8, vr1, vr8
        vmulhu.w    vr0, vr14, vr15
#! bytes .text.vc 5bc480a4 5bc0e7a4 5bc400a6 dbc707a6 5bc400a8 5b4007a8
#! bytes .text.vc 5ba4802a db27072a 5ba4802c 5b20f72c
