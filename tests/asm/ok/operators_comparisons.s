# What holds is -1.
        .word   1 < 2, 2 < 1, 1 <= 1, 2 > 1, 1 >= 2, 1 == 1, 1 != 1, 1 <> 2
#! bytes .data ffffffff 00000000 ffffffff ffffffff
#! bytes .data 00000000 ffffffff 00000000 ffffffff
