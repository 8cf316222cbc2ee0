# Loads and stores of vector registers, whole and by a stride.
        .core   vc
        vld         vr1, 2046(t6)
        vst         vr0, 0(t6)
        vlds.b      vr1, t5, a6
        vlds.h      vr1, a6, t5
        vlds.w      vr15, ra, a6
        vlds.d      vr15, zero, a6
        vsts.b      vr0, t5, ra
        vsts.h      vr8, a6, a6
        vsts.w      vr15, zero, t5
        vsts.d      vr1, t5, ra
#! bytes .text.vc fb80ef7f 7b900f00 fb200f01 fb20e803 fba70005 fb270007 7b301f00 7b340803
#! bytes .text.vc fb37e005 fb301f06
