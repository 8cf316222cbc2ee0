# The permuted multiply-accumulate in every format, orders in vector and general registers.
        .core   vc
        pmac.u8     vr1, vr8, vr0, vr1, acc
        pmac.u8     vr1, vr0, vr0, zero, acc
        pmac.s8     vr15, vr8, vr0, vr0, acc
        pmac.s8     vr8, vr1, vr0, t3
        pmac.u16    vr0, vr8, vr8, vr0
        pmac.u16    vr8, vr8, vr8, s0, acc
        pmac.s16    vr14, vr15, vr1, vr0
        pmac.s16    vr14, vr8, vr0, t6, acc
        pmac.s32    vr0, vr8, vr15, vr1
        pmac.s32    vr14, vr14, vr15, t5, acc
        pmac.f16    vr14, vr1, vr1, vr1, acc
        pmac.f16    vr0, vr0, vr0, t5, acc
        pmac.f32    vr15, vr15, vr14, vr1
        pmac.f32    vr1, vr0, vr14, s0, acc
        pmac.u32    vr8, vr1, vr8, vr1, acc
        pmac.u32    vr15, vr1, vr8, s0
        pmac.gr.u8  ra, a6, t6, t6
        pmac.gr.u8  zero, a6, ra, a6, acc
        pmac.gr.s8  zero, zero, a6, zero, acc
        pmac.gr.s8  a6, zero, a6, a6, acc
#! bytes .text.vc ab00040a ab000006 ab170402 2b9400e4 2b208400 2b248446 2bb71700 2b3704fe
#! bytes .text.vc 2b40f408 2b47f7f6 2bd7100a 2b5000f6 abe7e708 ab60e046 2bf4800a abf78044
#! bytes .text.vc db70f8f9 5b701882 5b700007 5b780087
