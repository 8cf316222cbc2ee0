# Xcp: opcode custom-0, funct3 counts from dma.copy on.
        .core   cp
        dma.copy a0, a1
        dma.wait a0
        dma.wait zero
        mem.swap a2
        dispatch a3, a4
        core.start a5, a6
        core.wait a7
#! bytes .text.cp 0b850500 0b100500 0b100000 0b200600 0bb0e600 0bc00701 0bd00800
