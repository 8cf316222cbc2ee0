# Sections in banks that there are not, words in them, and sections that overlap.
        .device tiny
        .output y, float16, 2000, at=island0
        .core   fim, island=0           #! error 9-30: .tensors.island0 and .fim.0.bank0.row3 overlap at 0x40000c00
        .section .fim.0.bank4.row0      #! error 18-35: a part of fim has no section '.fim.0.bank4.row0' | there are .text, .data, .rodata, .bss, .fim.0.bankB.rowR (B 0 to 3, R 0 to 63)
        .section .fim.0.bank0.row64     #! error 18-36: a part of fim has no section '.fim.0.bank0.row64' | there are .text, .data, .rodata, .bss, .fim.0.bankB.rowR (B 0 to 3, R 0 to 63)
        .section .fim.1.bank0.row0      #! error 18-35: a part of fim has no section '.fim.1.bank0.row0' | there are .text, .data, .rodata, .bss, .fim.0.bankB.rowR (B 0 to 3, R 0 to 63)
        .section .fim.0.bank0.row3
        .word   1
        .block  banks=0                 #! error 9-15: a word of an island is in .fim.0, not in .fim.0.bank0.row3 | write .text before it
        .text
        .block  banks=0
        end
        .block  banks=()                #! error 23-25: a block needs at least one bank
        end
