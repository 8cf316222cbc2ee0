# Steps need SU and WB.
        .core   pe
        .seq    s
        .step   st.base, inner=1          #! error 9-14: .step needs the stages SU and WB | say pipeline=4 in the .seq line
          st
        .endseq
