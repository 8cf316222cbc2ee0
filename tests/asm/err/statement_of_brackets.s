# What cannot begin a statement.
        .core   cp
        (nop)                             #! error 9-10: unexpected '(', expected a label, a mnemonic or a directive
        , nop                             #! error 9-10: unexpected ',', expected a label, a mnemonic or a directive
        + 1                               #! error 9-10: unexpected '+', expected a label, a mnemonic or a directive
