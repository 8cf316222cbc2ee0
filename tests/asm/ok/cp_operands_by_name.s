# Operands by name, in any order, and mixed with those by position.
        .core   cp
        add     rd=a0, rs1=a1, rs2=a2
        add     rs2=a2, rs1=a1, rd=a0
        add     a0, rs2=a2, rs1=a1
        add     a0, a1, a2
#! bytes .text.cp 3385c500 3385c500 3385c500 3385c500
