# Places of tensors take part in the image's size.
        .device tiny
        .input  x, int8, 300000
        .input  y, int8, 300000
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, data=(x, y)         #! error 32-33: 'y' of 300000 bytes does not fit half of a unit, 524288 bytes (mem.unit_half_bytes)
