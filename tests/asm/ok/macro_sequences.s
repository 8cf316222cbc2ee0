# Sequences and packets made by macros.
        .device tiny
        .core pe, row=0
        .macro dot name, acc=0
        .seq \name
        ld activations, base=0
        ld weights
        mac base=0, acc=\acc
        st base=0
        .endseq
        .endm
        .macro round ib, name
        config ib=\ib, \name
        exe ib=\ib, last
        .endm
        dot first
        dot second, 1
        .list packets
        round 0, first
        round 1, second
        .endlist
#! bytes .pe.0 00010000 03000000 03000000 62000000
#! bytes .pe.0 18000000 a0000000 03000000 00000000
#! bytes .pe.0 00000000 00000000 00000000 00000000
#! bytes .pe.0 01010000 03000000 03000000 7a000000
#! bytes .pe.0 18000000 a1000000 03000000 00000000
#! bytes .pe.0 00000000 00000000 00000000 00000000
#! bytes .pe.0 20000400 02000000 00000100 01000000
#! bytes .pe.0 00000005 00040000 00080400 02000000
#! bytes .pe.0 00000100 01000000 00000005 00040400
#! bytes .pe.0 0008
