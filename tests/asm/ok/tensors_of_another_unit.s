# Row 0 works on tensors of unit 1: it gets copies, and its results are copied there.
        .device tiny
        .input  x, int8, 32, at=unit1     #! warning 33-38: the program has no part that works with unit1
        .output y, int32, 8, at=unit1     #! warning 33-38: the program has no part that works with unit1
        .core   pe, row=0
        .seq    layer
          st
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x), out=y
#! at .data.cp+0x020 01000000 60000010 00001010 20000000 01000000
#! at .data.cp+0x0c0 01000000 20001010 80000010 20000000 01000000
