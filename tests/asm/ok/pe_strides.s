# A .stride is eight bytes among the steps: instruction, 2 + operand, pe, cluster. It needs no SU and WB.
        .core   pe
        .seq    s, reduction=add
        .stride mac.base, pe=1, cluster=-4
        .stride spu[0].dst, pe=-32768, cluster=32767
        .stride spu[1].src, cluster=2
        .stride st.base, pe=3
          ld    both
          mac
          spu   nonsf, src=1
          spu   reduce, src=2
          st
        .endseq
        .seq    t, pipeline=4
        .stride ld.base, pe=16
        .step   ld.base, inner=1
          ld    activations
        .endseq
#! at .pe.0+0x02 02
#! at .pe.0+0x07 04
#! at .pe.0+0x10 01 02 0100 fcff 0000
#! at .pe.0+0x18 02 03 0080 ff7f 0000
#! at .pe.0+0x20 03 02 0000 0200 0000
#! at .pe.0+0x28 04 02 0300 0000 0000
#! at .pe.0+0x4a 00 02 1000 0000 0000
#! at .pe.0+0x52 00 00 0100 0000 0000
