# Loads of every width, offsets at both ends.
        .core   cp
        lb      a0, -2048(sp)
        lbu     a1, 2047(sp)
        lh      a2, 0(gp)
        lhu     a3, 2(tp)
        lw      a4, 4(a5)
        lw      a4, (a5)
#! bytes .text.cp 03050180 8345f17f 03960100 83562200
#! bytes .text.cp 03a74700 03a70700
