# sizeof takes a symbol or a part of one.
        .word   sizeof(5)                 #! error 24-25: sizeof takes a symbol, or a part of one
        .word   sizeof(nowhere)           #! error 24-31: undefined symbol 'nowhere'
        .word   sizeof()                  #! error 24-25: unexpected ')', expected an operand
