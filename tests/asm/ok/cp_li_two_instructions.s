# Other numbers take two; a lower half of 0x800 and more carries into the upper one.
        .core   cp
        li      a0, 2048
        li      a0, -2049
        li      a0, 0x12345678
        li      a0, 0x7fffffff
        li      a0, 0xdeadbeef
#! bytes .text.cp 37150000 13050580 37f5ffff 1305f57f
#! bytes .text.cp 37553412 13058567 37050080 1305f5ff
#! bytes .text.cp 37c5adde 1305f5ee
