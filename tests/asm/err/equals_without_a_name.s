# An assignment has a name on its left, and a value.
        = 5                               #! error 9-10: unexpected '=', expected a label, a mnemonic or a directive
        5 = 6                             #! error 11-12: unexpected '=', expected ':'
        x =                               #! error 12-13: the line ends where an operand should be
