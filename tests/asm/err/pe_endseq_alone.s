# Nothing to end.
        .core   pe
        .endseq                           #! error 9-16: .endseq is outside of a sequence
        .loop   inner=1                   #! error 9-14: .loop is outside of a sequence
        .step   mac.base, inner=1         #! error 9-14: .step is outside of a sequence
        .then   ib=1                      #! error 9-14: .then is outside of a sequence
