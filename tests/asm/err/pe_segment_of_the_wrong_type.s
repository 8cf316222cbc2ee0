# Activations have the element type of the device, partial sums that of accumulators.
        .device tiny
        .input  f, float32, 8
        .input  x, int8, 8
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, data=(f)            #! error 29-30: 'f' holds float32; activations are int8 where pe.element is int8
        exe     ib=0, data=(psums x)      #! error 29-36: 'x' holds int8; psums are int32 where pe.element is int8
