# What the other sources of the array leave over.
        .device tiny
        .input  b, int32, 80
        .input  big, int8, 600000
        .core   pe
        .byte   0
odd:    .byte   1, 2, 3
        .seq    s, pipeline=4
        .step   mac.acc, inner=1
        .step   st.acc, inner=1           #! error 17-23: st has no operand 'acc' to step | it has base
          mac
          st
        .endseq
        config  ib=0, odd                 #! error 23-26: 'odd' lies at an odd address
        exe     ib=0, data=("weights.npy")  #! error 29-42: a segment is a symbol, a part of one, or unit[from:to] | as in data=(x, weights w[0] sliced)
        exe     ib=0, data=(weights "weights.npy"[0:8])  #! error 36-37: expected ',' before '"weights.npy"'
        exe     ib=0, data=(psums b)      #! error 29-36: 'b' gives a PE 10 elements, psums are 1 to 4
        exe     ib=0, data=(psums b[0:4])  #! error 29-41: 'b' has 4 elements here, which 8 cannot share | sliced gives each the same number
        exe     ib=0, data=(big)          #! error 29-32: 'big' of 600000 bytes does not fit half of a unit, 524288 bytes (mem.unit_half_bytes)
        .seq    t, shift=1, shift=2       #! error 29-36: the operand shift is given twice
          st
        .endseq
        exe     ib=0, data=("weights.npy"[0:8])  #! error 29-47: a segment is a symbol, not a file | give the data a label
        .output y, int32, 4, 8
        exe     ib=0, last, out=(y[0:2], count=3, pes=8)  #! error 34-40: results of 8 PEs reach 32 bytes past 'y' | pes=, stride=, step= and count= say what is written
