# Instructions by their format and fields, and as words.
        .core   cp
        .insn r 0x33, 0, 0, a0, a1, a2
        .insn r CUSTOM_0, 1, 2, a0, a1, a2
        .insn i 0x13, 0, a0, a1, 13
        .insn i LOAD, 2, a0, 4(a1)
        .insn s STORE, 2, a0, 4(a1)
x:      .insn sb BRANCH, 0, a0, a1, x
        .insn b BRANCH, 1, a0, a1, x
        .insn u LUI, a0, 0xff
        .insn uj JAL, a0, x
        .insn j JAL, zero, x
        .insn r MADD, 0, 1, a0, a1, a2, a3
        .insn r4 MADD, 0, 1, a0, a1, a2, a3
        .insn 0x00c58533
        .insn 4, 0x00c58533
#! bytes .text.cp 3385c500 0b95c504 1385d500 03a54500 23a2a500 6300b500 e31eb5fe
#! bytes .text.cp 37f50f00 6ff55fff 6ff01fff 4385c56a 4385c56a 3385c500 3385c500
        .core   vc
        .insn r 0x33, 0, 0, a0, a1, a2
#! bytes .text.vc 3385c500
