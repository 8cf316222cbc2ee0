# Eight lanes, and an order with a ninth.
#! fault bad order index: entry 7 of the order is 8, the lanes are 0 to 7
#! core vc
        .core   vc
        la      a0, order
        vld     vr2, (a0)
        pmac.s16 vr3, vr0, vr1, vr2     #! here
        .data
        .balign 16
order:  .byte   0, 1, 2, 3, 4, 5, 6, 8
        .space  8
