# Arithmetic lane by lane.
        .core   vc
        vadd.b      vr8, vr1, vr8
        vadd.h      vr0, vr8, vr15
        vadd.w      vr0, vr15, vr14
        vadd.f16    vr0, vr14, vr14
        vadd.f32    vr0, vr14, vr1
        vsub.b      vr15, vr1, vr8
        vsub.h      vr8, vr14, vr8
        vsub.w      vr14, vr15, vr1
        vsub.f16    vr8, vr8, vr14
        vsub.f32    vr14, vr0, vr8
        vmul.b      vr1, vr0, vr14
        vmul.h      vr15, vr1, vr8
        vmul.w      vr0, vr1, vr14
        vmul.f16    vr15, vr14, vr14
        vmul.f32    vr14, vr1, vr0
        vmin.b      vr1, vr1, vr0
        vmin.h      vr15, vr8, vr0
        vmin.w      vr14, vr14, vr1
        vmin.f16    vr15, vr0, vr1
        vmin.f32    vr1, vr15, vr8
        vminu.b     vr15, vr14, vr15
        vminu.h     vr14, vr0, vr0
        vminu.w     vr0, vr15, vr0
        vmax.b      vr14, vr15, vr8
        vmax.h      vr15, vr1, vr0
        vmax.w      vr8, vr0, vr15
        vmax.f16    vr0, vr8, vr8
        vmax.f32    vr0, vr0, vr15
        vmaxu.b     vr14, vr14, vr1
        vmaxu.h     vr8, vr14, vr1
        vmaxu.w     vr14, vr14, vr0
        vabs.b      vr0, vr0
        vabs.h      vr15, vr8
        vabs.w      vr15, vr14
        vabs.f16    vr14, vr14
        vabs.f32    vr0, vr1
        vneg.b      vr8, vr14
        vneg.h      vr14, vr0
        vneg.w      vr15, vr1
        vneg.f16    vr8, vr1
        vneg.f32    vr1, vr1
#! bytes .text.vc 5b848010 5b10f410 5ba0e710 5b40e710 5b401790 db878012 5b148712 5ba71712
#! bytes .text.vc 5b44e412 5b478092 db00e014 db978014 5ba0e014 db47e714 5bc70094 db800016
#! bytes .text.vc db170416 5b271716 db471016 dbc08796 db07f718 5b170018 5ba00718 5b87871a
#! bytes .text.vc db97001a 5b24f01a 5b40841a 5b40f09a 5b07171c 5b14171c 5b27071c 5b00001e
#! bytes .text.vc db17041e db27071e 5b47071e 5bc0009e 5b040720 5b170020 dba70020 5bc40020
#! bytes .text.vc dbc000a0
