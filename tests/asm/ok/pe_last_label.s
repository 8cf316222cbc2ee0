# The last data end where they end: the places of tensors behind them belong to no label.
        .device tiny
        .output y, int32, 8
        .core   pe
first:  .byte   1
last:   .half   1, 5
        .byte   1
        .seq    layer
          ld    weights
          mac
          st
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(weights last broadcast), out=y
#! symbol first 0x10000054 1 object .pe.0
#! symbol last 0x10000055 5 object .pe.0
