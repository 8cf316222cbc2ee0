# Bytes of the unit's half, from and to.
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, data=(weights unit)  #! error 37-41: unit is written unit[offset] or unit[from:to]
        exe     ib=0, data=(weights unit[8])  #! error 37-44: a segment has a start and an end | write unit[from:to]
        exe     ib=0, data=(weights unit[8:4])  #! error 42-45: the range 8:4 ends before it begins
        exe     ib=0, data=(weights unit[0:0x100000])  #! error 44-52: unit: offset 1048576 is out of range, 0 to 524288
        exe     ib=0, data=(unit[0:4])    #! error 29-38: what 'unit' holds is not known | say weights, activations or psums before it
        exe     ib=0, data=(activations unit[0:4] dense)  #! error 29-56: 'dense' is for weights, not for activations
