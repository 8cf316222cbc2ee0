# What a sequence's header can say.
        .core   pe
        .seq    plain
          st
        .endseq
        .seq    full, state=rq, pipeline=4, activation=relu, reduction=max, shift=SHIFT, window=9, pop=3
        .loop   inner=14, outer=OUTER
        .step   mac[0].base, inner=+1, outer=-2
        .step   mac[1].acc, outer=1
        .step   spu.dst, inner=1
        .then   ib=5
first:    mac
          mac   base=1
named:    spu   activation
        .endseq
        .equ    SHIFT, 7
        .equ    OUTER, 3
#! bytes .pe.0 01 00 02 00 00 00 00 00 0100 0100 0000 0000 0008
#! bytes .pe.0 03 01 04 01 02 07 85 03 0e00 0300 0900 0300
#! bytes .pe.0 00 00 0100 feff 0000  01 01 0000 0100 0000  02 01 0100 0000 0000
#! bytes .pe.0 0000 1000 000d
#! symbol full 0x10000012 46 object .pe.0
#! symbol first 0x1000003a 4 object .pe.0
#! symbol named 0x1000003e 2 object .pe.0
