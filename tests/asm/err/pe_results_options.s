# Options of out=, one more than the most.
        .device tiny
        .output y, int32, 8
        .core   pe
        .seq    plain
          st
        .endseq
        config  ib=0, plain
        exe     ib=0, out=(y, pes=9)      #! error 35-36: pes: 9 is out of range, 0 to 8
        exe     ib=0, out=(y, count=65536)  #! error 37-42: count: 65536 is out of range, 0 to 65535
        exe     ib=0, out=(y, step=-1)    #! error 36-38: step: -1 is out of range, 0 to 4294967295
        exe     ib=0, out=(y, width=4)    #! error 31-36: out has no operand 'width' | there are stride, step, count, pes, type
