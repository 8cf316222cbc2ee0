# A text with a subscript is no part of a phrase.
        .core   cp
        .set    a, "ab"[1]w               #! error 27-28: expected ',' before 'w'
        ebreak
