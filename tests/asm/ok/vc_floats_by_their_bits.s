# Bits of floats between general and vector registers, by names that say so.
        .core   vc
        vsplat.f16  vr3, a0
        vsplat.f32  vr15, t6
        vins.f16    vr3, a0, 7
        vins.f32    vr3, a0, 3
        vext.f16    a0, vr3, 7
        vext.f32    a0, vr3, 3
#! bytes .text.vc db110502 dba70f02 db117504 db213504 5b957108 5ba53106
