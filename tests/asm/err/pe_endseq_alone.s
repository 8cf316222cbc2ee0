# Nothing to end.
        .core   pe
        .endseq                           #! error 9-16: .endseq stands outside of a sequence
        .loop   inner=1                   #! error 9-14: .loop stands outside of a sequence
        .step   mac.base, inner=1         #! error 9-14: .step stands outside of a sequence
        .then   ib=1                      #! error 9-14: .then stands outside of a sequence
