# A product outside of a chain, as a word: the assembler would not take it.
#! fault broken chain: mv_mul is in no chain: v_rd begins one
#! core nnp
        .device tiny
        .core   nnp
        .word   0x07000000              #! here
        end_chain
