# Shifts by 0, 1 and 31.
        .core   cp
        slli    a0, a1, 0
        slli    a0, a1, 31
        srli    a0, a1, 1
        srli    a0, a1, 31
        srai    a0, a1, 1
        srai    a0, a1, 31
#! bytes .text.cp 13950500 1395f501 13d51500 13d5f501
#! bytes .text.cp 13d51540 13d5f541
