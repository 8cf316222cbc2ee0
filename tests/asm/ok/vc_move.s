# Moves between and within registers.
        .core   vc
        vmov        vr0, vr0
        vsplat.b    vr0, zero
        vsplat.h    vr1, t6
        vsplat.w    vr1, t6
        vsplat.d    vr0, t5
        vins.b      vr14, t6, 1
        vins.h      vr8, zero, 0
        vins.w      vr15, a6, 3
        vins.d      vr1, t3, 0
        vext.b      ra, vr14, 15
        vext.h      t5, vr0, 1
        vext.w      t5, vr14, 1
        vext.d      t3, vr1, 1
        vextu.b     ra, vr0, 0
        vextu.h     a6, vr8, 1
        vperm       vr15, vr1, vr1, vr14
#! bytes .text.vc 5b000000 5b000002 db900f02 dba00f02 5b300f02 5b871f04 5b140004 db273804
#! bytes .text.vc db300e04 db00f706 5b1f1006 5b2f1706 5bbe1006 db000008 5b181408 dbe71070
