# Any run of bytes of the unit's half.
        .core   pe
        .seq    s
          ld    psums
        .endseq
        .list   l
        config  ib=0, s
        exe     ib=0, data=(psums unit[0x40:0x80], weights unit[0:0] broadcast)
        .endlist
#! at .pe.0+0x1c 02 01 00 00 40000000 40000000
#! at .pe.0+0x28 00 00 00 00 00000000 00000000
