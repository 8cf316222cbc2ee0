# A step names an instruction of its sequence, and an operand that has a register.
        .core   pe
        .seq    s, pipeline=4
        .step   mac.base, inner=1         #! error 17-25: the sequence has no instruction 'mac' | it has st
          st
        .endseq
        .seq    t, pipeline=4
        .step   st.dst, inner=1           #! error 17-23: st has no operand 'dst' to step | it has base
          st
        .endseq
