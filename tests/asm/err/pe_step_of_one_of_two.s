# If there are two, it says which.
        .core   pe
        .seq    s, pipeline=4
        .step   st.base, inner=1          #! error 17-24: the sequence has 2 of st | write st[0].base to st[1].base
        .step   st[2].base, inner=1       #! error 17-27: st[2] is out of range, 0 to 1
          st
          st
        .endseq
