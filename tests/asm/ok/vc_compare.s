# Comparisons and the choice by their result.
        .core   vc
        vceq.b      vr8, vr1, vr15
        vceq.h      vr14, vr15, vr15
        vceq.w      vr8, vr14, vr14
        vceq.f16    vr15, vr0, vr1
        vceq.f32    vr15, vr0, vr14
        vclt.b      vr8, vr15, vr8
        vclt.h      vr0, vr8, vr14
        vclt.w      vr1, vr14, vr15
        vclt.f16    vr0, vr1, vr1
        vclt.f32    vr0, vr8, vr1
        vcltu.b     vr0, vr1, vr14
        vcltu.h     vr15, vr15, vr15
        vcltu.w     vr15, vr8, vr0
        vcle.b      vr15, vr1, vr1
        vcle.h      vr0, vr1, vr0
        vcle.w      vr8, vr0, vr0
        vcle.f16    vr8, vr0, vr8
        vcle.f32    vr15, vr1, vr1
        vcleu.b     vr14, vr1, vr0
        vcleu.h     vr15, vr8, vr0
        vcleu.w     vr15, vr1, vr15
        vsel        vr14, vr1, vr1, vr8
#! bytes .text.vc 5b84f060 5b97f760 5b24e760 db471060 db47e0e0 5b848762 5b10e462 db20f762
#! bytes .text.vc 5bc01062 5b4014e2 5b80e064 db97f764 db270464 db871066 5b900066 5b240066
#! bytes .text.vc 5b448066 dbc710e6 5b870068 db170468 dba7f068 5be71042
