# layer.s - one image through eight rows of a sparse layer
        .device tiny                     # row 0: 2 clusters of 4 PEs
        .input  x, int8, 64
        .output y, int32, 8

        .core   pe, row=0
w:      .sparse "weights.npy"[0:8]       # index + value, a row a PE
        .seq    layer, state=sq
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
          st    base=0
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x, w[0]), out=y

# The image: config packet, exe packet, end mark; the sequence; the weights; places of x and y.
#! at .pe.0+0x00 00 01 0000 03000000
#! at .pe.0+0x08 03 00 00 00 4a000000 1a000000
#! at .pe.0+0x14 a0 02 0000 03000000
#! at .pe.0+0x1c 01 00 00 00 40020000 40000000
#! at .pe.0+0x28 00 01 00 00 64000000 cc010000
#! at .pe.0+0x34 80020000 04000000 04000000 0100 0800 02 00 0000
#! at .pe.0+0x48 20 00
#! at .pe.0+0x4a 05 00 02 00 00 00 00 00 0100 0100 0000 0000
#! at .pe.0+0x5a 0005 0004 0000 000c 0008
#! section .pe.0 0x10000000 672 align 32
#! symbol w 0x10000064 460 object .pe.0
#! symbol layer 0x1000004a 26 object .pe.0
#! symbol _list.0 0x10000000 73 object .pe.0
#! symbol x 0x800002c0 64 object .tensors
#! symbol y 0x80000300 32 object .tensors
#! symbol default.first 0x10000 8 func .text.cp
