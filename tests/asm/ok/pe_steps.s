# A .step is eight bytes between header and instructions: instruction, operand, inner, outer.
        .core   pe
        .seq    s, pipeline=4
        .step   mac.base, inner=1
        .step   st.base, outer=-1
        .step   spu.dst, inner=-32768, outer=32767
          mac
          spu   activation
          st
        .endseq
#! at .pe.0+0x07 03
#! at .pe.0+0x10 00 00 0100 0000 0000
#! at .pe.0+0x18 02 00 0000 ffff 0000
#! at .pe.0+0x20 01 01 0080 ff7f 0000
