# More bytes than the rest of a bank: the error is at the line that begins the island's part.
        .device tiny
        .core   fim, island=0           #! error 9-30: .fim.0.bank0.row63 takes 1025 bytes, its memory has 1024 (fim.rows)
        .block  banks=0
        end
        .section .fim.0.bank0.row63
        .zero   1025
