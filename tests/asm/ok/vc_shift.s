# Shifts by registers and by constants.
        .core   vc
        vsll.b      vr8, vr14, vr8
        vsll.h      vr8, vr15, vr0
        vsll.w      vr1, vr0, vr8
        vsll.d      vr0, vr15, vr0
        vsrl.b      vr14, vr15, vr14
        vsrl.h      vr15, vr0, vr15
        vsrl.w      vr1, vr14, vr8
        vsrl.d      vr8, vr1, vr1
        vsra.b      vr0, vr0, vr15
        vsra.h      vr8, vr15, vr14
        vsra.w      vr15, vr8, vr15
        vsra.d      vr14, vr15, vr15
        vslli.b     vr14, vr14, 1
        vslli.h     vr8, vr15, 14
        vslli.w     vr8, vr1, 31
        vslli.d     vr0, vr15, 1
        vsrli.b     vr15, vr1, 6
        vsrli.h     vr8, vr1, 14
        vsrli.w     vr15, vr0, 0
        vsrli.d     vr14, vr1, 62
        vsrai.b     vr8, vr8, 1
        vsrai.h     vr8, vr0, 0
        vsrai.w     vr15, vr0, 30
        vsrai.d     vr0, vr1, 1
#! bytes .text.vc 5b048730 5b940730 db208030 5bb00730 5b87e732 db17f032 db208732 5bb41032
#! bytes .text.vc 5b00f034 5b94e734 db27f434 5bb7f734 5b071780 5b94e780 5ba4f081 5bb01780
#! bytes .text.vc db876084 5b94e084 db270084 5bb7e087 5b041488 5b140088 db27e089 5bb01088
