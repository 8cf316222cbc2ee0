# Sums of all lanes.
        .core   vc
        vsum.b      vr8, vr14
        vsum.h      vr8, vr1
        vsum.w      vr14, vr0
        vsum.f16    vr14, vr0
        vsum.f32    vr8, vr0
        vsumu.b     vr8, vr1
        vsumu.h     vr0, vr1
        vsumu.w     vr0, vr15
#! bytes .text.vc 5b040770 5b940070 5b270070 5b470070 5b4400f0 5b840072 5b900072 5ba00772
