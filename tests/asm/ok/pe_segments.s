# Segments: words that symbols give and words that the source gives; who gets them; results.
        .device tiny
        .input  x, int8, 4, 8
        .input  b, int32, 8
        .output y, int32, 3, 8
        .core   pe
w:      .sparse "weights.npy"[0:11, 0:8]
raw:    .space  16
d:      .npy    "weights.npy"[0, 0:8]
        .seq    s
          st
        .endseq
        config  ib=0, s, to=(1)
        exe     ib=0, last, data=(w[0], x[0]), out=y
        exe     ib=0, last, data=(w[1], x[1:3]), out=(y[1], count=2)
        exe     ib=0, last, data=(weights w[1] sliced, activations x[0, 0:4] by_pe, psums b), out=y[2], to=0
        exe     ib=0, shift, data=(activations raw by_cluster, weights d compress), out=(raw, type=int16, stride=2, step=0, count=1, pes=8), to=(0, 1)
        exe     ib=0, data=(weights unit[4:0x10], activations unit[0:0] sliced), out=(unit[0x10], type=fp32, count=3), to=all
        exe     ib=0, data=x[0], out=(y, pes=4, stride=8)
# config; then the six exe packets: command, mask; weights, activations, ...; out
#! at .pe.0+0x000 00 01 0000 02000000  03 00 00 00 4e010000 12000000
#! at .pe.0+0x014 a0 02 0000 03000000  00 01 00 00 60010000 43000000  01 00 00 00 e0010000 08000000
#! at .pe.0+0x034 00020000 04000000 04000000 0100 0800 02 00 0000
#! at .pe.0+0x048 a0 02 0000 03000000  00 01 00 00 a3010000 24000000  01 00 00 00 e8010000 10000000
#! at .pe.0+0x068 20020000 08000000 04000000 0200 0300 02 00 0000
#! at .pe.0+0x07c a0 03 0000 01000000  00 01 00 00 a3010000 24000000  01 03 00 00 e0010000 04000000
#! at .pe.0+0x09c 02 01 00 00 60020000 20000000
#! at .pe.0+0x0a8 40020000 04000000 04000000 0100 0300 02 00 0000
#! at .pe.0+0x0bc c0 02 0000 03000000  01 02 00 00 c7010000 10000000  00 01 01 00 d7010000 08000000
#! at .pe.0+0x0dc c7010000 02000000 00000000 0100 0800 01 00 0000
#! at .pe.0+0x0f0 80 02 0000 03000000  00 01 00 00 04000000 0c000000  01 01 00 00 00000000 00000000
#! at .pe.0+0x110 10000000 0c000000 04000000 0300 0000 05 00 0000
#! at .pe.0+0x124 80 01 0000 03000000  01 00 00 00 e0010000 08000000
#! at .pe.0+0x138 00020000 08000000 04000000 0100 0400 02 00 0000
#! at .pe.0+0x14c 20
