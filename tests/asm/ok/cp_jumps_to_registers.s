# jalr in all its spellings.
        .core   cp
        jalr    ra, 4(a0)
        jalr    a0
        jalr    t0, a0
        jalr    t0, a0, 8
        jr      a1
        ret
#! bytes .text.cp e7004500 e7000500 e7020500 e7028500
#! bytes .text.cp 67800500 67800000
