# sgt and sgtu are slt and sltu with their sources exchanged.
        .core   cp
        sgt     a0, a1, a2
        sgtu    a3, a4, a5
        move    a6, a7
#! bytes .text.cp 3325b600 b3b6e700 13880800
