# 16 bits with a sign.
        .core   pe
        .seq    s, pipeline=4
        .step   st.base, inner=32768      #! error 32-37: inner: 32768 is out of range, -32768 to 32767
          st
        .endseq
