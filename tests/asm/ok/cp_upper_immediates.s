# lui and auipc take 20 bits.
        .core   cp
        lui     a0, 0
        lui     a0, 1
        lui     a1, 0xfffff
        auipc   t0, 0
        auipc   t1, 0x80000
#! bytes .text.cp 37050000 37150000 b7f5ffff 97020000
#! bytes .text.cp 17030080
