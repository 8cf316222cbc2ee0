        .data
        .macro m a
        .ascii "\\a \\\\ \\n \\\a"
        .endm
        m n
        m t
