# What a config brings, and what its sequence needs.
        .device tiny
        .input  x, int32, 8
        .input  v, int16, 256
        .core   pe
        .seq    plain
          st
        .endseq
        .seq    scaled
        .types  requantise=scale
          st
        .endseq
        .seq    mapped, activation=table
          st
        .endseq
        .balign 4
k:      .float  1, 2, 3, 4, 5, 6, 7, 8
few:    .float  1, 2, 3
u:      .array  int8, 256
short:  .array  int8, 255
        .list   l
        config  ib=0, scaled              #! error 23-29: 'scaled' has .types requantise=scale; its config brings no scales | add data=(scales SYMBOL)
        config  ib=0, mapped              #! error 23-29: 'mapped' has activation=table; its config brings no table | add data=(table SYMBOL)
        config  ib=0, plain, data=(scales k)  #! error 36-44: 'plain' uses no scales | say .types requantise=scale
        config  ib=0, plain, data=(table u)  #! error 36-43: 'plain' uses no table | say activation=table
        config  ib=0, scaled, data=(k)    #! error 37-38: what 'k' holds is not known | say scales or table before it
        config  ib=0, scaled, data=(scales k, scales k)  #! error 47-55: the config has two segments of type scales
        config  ib=0, scaled, data=(scales few)  #! error 37-47: 'few' has 3 scales here, sliced takes 8
        config  ib=0, scaled, data=(scales k broadcast)  #! error 37-55: 'k' has 8 scales here, broadcast takes 1
        config  ib=0, scaled, data=(scales x)  #! error 37-45: 'x' holds int32; scales are float32
        config  ib=0, scaled, data=(scales k compress)  #! error 46-54: a segment of config is never 'compress' | its words are scales, table, broadcast, sliced, by_cluster, by_pe
        config  ib=0, scaled, data=(weights k)  #! error 37-44: a segment of config is never 'weights' | its words are scales, table, broadcast, sliced, by_cluster, by_pe
        config  ib=0, mapped, data=(table short)  #! error 37-48: 'short' has 255 entries here, a table has 256
        config  ib=0, mapped, data=(table u sliced)  #! error 37-51: a table is broadcast, not sliced
        config  ib=0, mapped, data=(table k)  #! error 37-44: 'k' has 32 entries here, a table has 256
        config  ib=0, mapped, data=(table v)  #! error 37-44: 'v' holds int16; the entries of a table are int8 as the activations of the sequence
        config  ib=0, mapped, data=(table plain)  #! error 37-48: 'plain' is a sequence, no data
        exe     ib=0, data=(scales k)     #! error 29-35: a segment of exe is never 'scales' | its words are weights, activations, psums, broadcast, sliced, by_cluster, by_pe, records, compress, dense, int8, int16, int32, int64, fp16, fp32
        .endlist
        .seq    wrong
        .types  requantise=divide         #! error 28-34: requantise: 'divide' is not one of shift, scale
        .types  requantise=scale          #! error 9-15: the sequence has two .types
        .types                            #! error 9-15: .types takes other operands | write .types weights=int8, activations=int8, requantise=shift
        .types  requantise=scale, mac.base  #! error 9-43: .types takes other operands | write .types weights=int8, activations=int8, requantise=shift
        .types  shift=3                   #! error 17-22: .types has no operand 'shift' | there are weights, activations, requantise
          st
        .endseq
