# Calls of the host, under old and new names.
        .core   cp
        ecall
        ebreak
        scall
        sbreak
#! bytes .text.cp 73000000 73001000 73000000 73001000
