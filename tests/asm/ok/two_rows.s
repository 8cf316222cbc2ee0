# Two rows that write different parts of one output: the default program copies just those.
        .device tiny
        .input  x, int8, 8
        .output y, int32, 16
        .core   pe, row=0
w:      .sparse "weights.npy"[0:8, 0:8]
        .seq    s
          ld    both
          mac
          spu   nonsf
          st
        .endseq
        config  ib=0, s
        exe     ib=0, last, data=(w, x), out=y
        .core   pe, row=1
w1:     .sparse "weights.npy"[8:16, 0:8]
        .seq    s1
          ld    both
          mac
          spu   nonsf
          st
        .endseq
        config  ib=0, s1
        exe     ib=0, last, data=(w1, x), out=y[8]
# Images and x to the units, wait, swap, run both, wait, each row's eight elements back.
#! at .data.cp+0x000 01000000 00000010 00000080 20010000 01000000 00000000 00000000 00000000
#! at .data.cp+0x020 01000000 c0000010 80020080 08000000 01000000 00000000 00000000 00000000
#! at .data.cp+0x040 01000000 00001010 40010080 20010000 01000000 00000000 00000000 00000000
#! at .data.cp+0x060 01000000 c0001010 80020080 08000000 01000000 00000000 00000000 00000000
#! at .data.cp+0x080 02000000
#! at .data.cp+0x0a0 03000000 03000000
#! at .data.cp+0x0c0 04000000 01000000 00000010
#! at .data.cp+0x0e0 04000000 02000000 00001010
#! at .data.cp+0x100 06000000 00000300
#! at .data.cp+0x120 01000000 c0020080 e0000010 20000000 01000000 00000000 00000000 00000000
#! at .data.cp+0x140 01000000 e0020080 00011010 20000000 01000000 00000000 00000000 00000000
#! at .data.cp+0x160 02000000
#! at .data.cp+0x180 00000000
#! section .data.cp 0x10090 416 align 16
