# .dense has rounds of one row a PE, the last one completed by zeros; a segment's form 2 is dense.
        .device tiny
        .output y, int32, 8
        .core   pe
        .seq    s
          ld    weights
          mac
        .endseq
w:      .dense  "weights.npy"[0:2], clusters=1, pes=1
v:      .dense  "weights.npy"[0:11]
b:      .npy    "weights.npy"[0:8]
        .list   l
        config  ib=0, s
        exe     ib=0, data=(w[1] broadcast)
        exe     ib=0, data=(v[1])
        exe     ib=0, data=(b dense weights sliced)
        exe     ib=0, data=(v[0] compress)
        exe     ib=0, last, data=(v[1]), out=y
        .endlist
# exe: packet, segment of weights (type 0, mode, form 2, offset, length).
#! at .pe.0+0x14 80 01 0000 03000000
#! at .pe.0+0x1c 00 00 02 00 34010000 40000000
#! at .pe.0+0x44 00 01 02 00 74030000 00020000 00
#! at .pe.0+0x6c 00 01 02 00 74050000 00020000 00
#! at .pe.0+0x94 00 01 01 00 74010000 00020000 00
# Only three PEs have a row in the last round: pes=3. Rows 3 to 7 of that round are zeros.
#! at .pe.0+0xbc 00 01 02 00 74030000 00020000
#! at .pe.0+0xd6 0300
#! at .pe.0+0x434 00000000 00000000 00000000
