# What the MACs of a cluster, the scalar unit or PE 0 alone take is the same in all PEs.
        .core   pe
        .stride mac.base, pe=1            #! error 9-16: .stride is outside of a sequence
        .seq    s, reduction=add
        .stride mac.acc, pe=1             #! error 17-24: this operand is the same in all PEs | those that differ are places in the input buffer and in the output queue
        .stride spu[0].src, pe=1          #! error 17-27: this operand is the same in all PEs | those that differ are places in the input buffer and in the output queue
        .stride spu[1].dst, pe=1          #! error 17-27: this operand is the same in all PEs | those that differ are places in the input buffer and in the output queue
        .stride spu[2].dst, pe=1          #! error 17-27: this operand is the same in all PEs | those that differ are places in the input buffer and in the output queue
        .stride ld.base, pe=1             #! error 17-24: this operand is the same in all PEs | those that differ are places in the input buffer and in the output queue
        .stride st.dst, pe=1              #! error 17-23: st has no operand 'dst' for a stride | it has base
        .stride st.base                   #! error 9-24: .stride takes other operands | write .stride MNEMONIC[N].OPERAND, pe=0, cluster=0
        .stride st.base, inner=1          #! error 26-31: .stride has no operand 'inner' | there are pe, cluster
        .stride st.base, pe=32768         #! error 29-34: pe: 32768 is out of range, -32768 to 32767
          ld    weights
          mac
          spu   nonsf, src=0
          spu   reduce, src=2
          spu   nonsf, src=8
          st
        .endseq
