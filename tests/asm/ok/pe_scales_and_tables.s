# .types is a record of eight bytes among the others; config brings scales and a table.
        .device tiny
        .core   pe
        .seq    s, activation=table, pipeline=4
        .types  requantise=scale
        .step   mac.base, inner=1
          ld    both
          mac
          spu   requantise
          spu   activation
        .endseq
        .seq    t
        .types  requantise=shift
          st
        .endseq
        .balign 4
k:      .float  1, 2, 0.5, 0.25, -1, 3, 0, 8
one:    .float  1
u:      .array  int8, 256
        .list   l
        config  ib=3, s, data=(table u, scales k)
        config  ib=4, s, data=(scales one broadcast, table u), to=1
        config  ib=5, t
        config  ib=6, s, data=(scales unit[0x20:0x30] by_pe, table unit[0x100:0x200])
        .endlist
# config ib=3: packet, then segments of s, of u (table, broadcast) and of k (scales, sliced).
#! at .pe.0+0x00 03 03 0000 03000000
#! at .pe.0+0x08 03 00 00 00 9a000000 28000000
#! at .pe.0+0x14 05 00 00 00 00010000 00010000
#! at .pe.0+0x20 04 01 00 00 dc000000 20000000
#! at .pe.0+0x2c 04 03 0000 02000000
#! at .pe.0+0x40 04 00 00 00 fc000000 04000000
#! at .pe.0+0x80 04 03 00 00 20000000 10000000
#! at .pe.0+0x90 00010000 00010000 20
# s: two records, types before the step; t: requantise=shift is a record, too.
#! at .pe.0+0x9a 04 00 04 04 00 00 00 02 0100 0100 0000 0000
#! at .pe.0+0xaa 00 80 0000 01 00 0000
#! at .pe.0+0xb2 01 00 0100 0000 0000
#! at .pe.0+0xd2 00 80 0000 00 00 0000 0008
