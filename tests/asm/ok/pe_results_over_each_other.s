# 25 results a PE, 4 bytes each; and where they do not lie over each other.
        .device tiny
        .output y, int32, 4, 25
        .core   pe
        .seq    loop
        .loop   inner=5, outer=5
          st
        .endseq
        .seq    four, reduction=none
          st
        .endseq
        .seq    one
          st
        .endseq
        config  ib=0, loop
        config  ib=1, four
        config  ib=2, one
        exe     ib=0, last, out=(y, pes=4)      #! warning 34-35: PEs write over each other's results: each writes 25 elements, but the next PE begins 4 bytes later | such as stride=100
        exe     ib=0, last, out=(y, pes=4, stride=99)      #! warning 34-35: PEs write over each other's results: each writes 25 elements, but the next PE begins 99 bytes later | such as stride=100
        exe     ib=0, last, out=(y, pes=1)
        exe     ib=0, last, out=(y, pes=4, stride=100)
        exe     ib=0, last, out=(y, pes=4, stride=4, step=16)
        exe     ib=0, last, out=(y, pes=4, stride=0)
        exe     ib=2, last, out=(y, pes=4, stride=2, count=4)  #! warning 34-35: PEs write over each other's results: each writes 4 elements, but the next PE begins 2 bytes later | such as stride=16
        exe     ib=1, last, out=(y, pes=4, stride=1, count=1)  #! warning 34-35: PEs write over each other's results: each writes 1 element, but the next PE begins 1 byte later | such as stride=4
