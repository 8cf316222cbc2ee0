# Element types that the array does not have, or that the data have not.
        .device tiny
        .setting pe.widest, int16
        .input  x, int8, 16
        .input  z, int16, 16
        .input  f, float32, 16
        .input  p, int32, 8
        .core   pe
        .seq    wide, activation=table
        .types  weights=int8, activations=int16
          ld    both
        .endseq
        .seq    other
        .types  weights=fp16              #! error 25-29: weights: the array has no fp16 | it has int8, int16; pe.widest says which
        .types  weights=int32             #! error 9-15: the sequence has two .types
          st
        .endseq
u:      .array  int8, 256
        .list   l
        config  ib=0, wide, data=(table x)  #! error 35-42: 'x' holds int8; the entries of a table are int16 as the activations of the sequence
        exe     ib=0, data=(f)            #! error 29-30: 'f' holds float32; activations are int8 or int16 where pe.widest is int16
        exe     ib=0, data=(psums p)      #! error 29-36: 'p' holds int32; psums are int64 where pe.widest is int16
        exe     ib=0, data=(x int16)      #! error 29-36: 'x' holds int8, not int16
        exe     ib=0, data=(x fp32)       #! error 29-35: the array has no activations of fp32 | it has int8, int16; pe.widest says which
        exe     ib=0, data=(psums unit[0:64] int32)  #! error 29-51: the array has no psums of int32 | it has int64; pe.widest says which
        exe     ib=0, data=(x int8 int8)  #! error 36-40: the segment says its element twice
        .endlist
        .sparse "bad/floats.npy"          #! error 17-33: the array holds float32; the device's weights are int8 or int16 (pe.widest)
