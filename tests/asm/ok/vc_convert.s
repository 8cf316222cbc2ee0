# Conversions between elements.
        .core   vc
        vcvt.f32.w  vr14, vr15
        vcvt.w.f32  vr0, vr14
        vcvt.f32.f16 vr1, vr1, 1
        vcvt.f16.f32 vr15, vr14, vr15
#! bytes .text.vc 5ba7076c 5b4007ec dbc0106e db47f7ee
