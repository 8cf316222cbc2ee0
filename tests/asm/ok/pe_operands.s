# Operands of the array: by position, by name, flags in any place.
        .core   pe
        .seq    s
          mac   0, 1
          mac   base=0, acc=1
          mac   acc=1
          mac   3, 2, balance, sfu
          mac   sfu, balance, base=3, acc=2
          ld    weights
          ld    both, 2
          ld    destination=psums, base=15
          st    3
          spu   nonsf, 3, 5
          spu   activation, dst=1
          spu   reduce
          spu   requantise, src=15, dst=15
        .endseq
        config  31, s
        exe     last, ib=3, shift               #! warning 26-27: instruction buffer 3 is executed before a config fills it
        exe     5                               #! warning 17-18: instruction buffer 5 is executed before a config fills it
        trace_begin 7
        trace_end g=7
#! at .pe.0+0x00 1f 01 0000 0f000000
#! at .pe.0+0x14 e3 00 0000 0f000000
#! at .pe.0+0x30 85 00 0000 0f000000
#! at .pe.0+0x4c 67 00 0000 0f000000
#! at .pe.0+0x54 47 00 0000 0f000000
#! at .pe.0+0x5c 20
#! at .pe.0+0x6e 0400 0400 0400 3803 3803 0004 2007 f006 3008 350c 010d 000e ff0f
