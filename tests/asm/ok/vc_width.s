# Lanes widened and narrowed.
        .core   vc
        vwiden.b    vr15, vr14, 0
        vwiden.h    vr0, vr1, 1
        vwidenu.b   vr1, vr15, 1
        vwidenu.h   vr14, vr15, 0
        vnarrow.h   vr14, vr1, vr8, 14
        vnarrow.w   vr1, vr8, vr15, 31
        vnarrowu.h  vr14, vr15, vr14, 14
        vnarrowu.w  vr8, vr14, vr14, 0
#! bytes .text.vc db070750 5b901050 db801752 5b970752 5bd78070 db50f4fa 5bd7e774 5b54e706
