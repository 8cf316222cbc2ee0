# At least one instruction.
        .core   pe
        .seq    s
        .endseq                           #! error 9-16: the sequence is empty
