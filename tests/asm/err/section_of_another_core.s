# .data.cp is cp's.
        .core   pe
        .section .data.cp                 #! error 18-26: a part of pe has no section '.data.cp' | did you mean '.data'?
