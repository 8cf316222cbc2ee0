# Element types: of a sequence in its record of types, of a segment in its fourth byte (1 + number).
        .device tiny
        .setting pe.widest, int16
        .input  x, int8, 16
        .input  z, int16, 16
        .input  p, int64, 8
        .core   pe
        .seq    wide, activation=table
        .types  weights=int8, activations=int16
          ld    both
          ld    psums
          mac
        .endseq
        .seq    plain
          ld    both
        .endseq
w:      .dense  "weights.npy"[0:8]
u:      .array  int16, 256
        .list   l
        config  ib=1, wide, data=(table u)
        exe     ib=1, data=(w, z, psums p)
        exe     ib=1, data=(w, x)
        exe     ib=1, data=(weights unit[0:16] dense int16 broadcast, activations unit[0:16])
        .endlist
# exe: type, mode, form, element, offset, length. Element 1 is int8, 2 is int16; psums have 0.
#! at .pe.0+0x28 00 01 02 01 fc000000 00020000  01 00 00 02 00050000 20000000  02 01 00 00 20050000 40000000
#! at .pe.0+0x68 00 01 02 01 fc000000 00020000  01 00 00 01 60050000 10000000
#! at .pe.0+0x9c 00 00 02 02 00000000 10000000  01 00 00 00 00000000 10000000
# The record of types: 0, 128, weights, activations, requantise.
#! at .pe.0+0xda 00 80 01 02 00 00 0000
