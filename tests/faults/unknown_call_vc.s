# vc knows the calls of cp, no others.
#! fault unknown call: ecall asks for call 0; a7 is 93 \(exit\) or 64 \(write\)
#! core vc
        .core   vc
        ecall                           #! here
