# What weights without indices need.
        .device tiny
        .input  x, int8, 64
        .input  z, int16, 64
        .core   pe
        .seq    s
          ld    weights
          mac
        .endseq
w:      .dense  "weights.npy"[0:11]
k:      .sparse "weights.npy"[0:8]
        .dense  "bad/cube.npy"            #! error 17-31: the array has 3 dimensions, a dense matrix has 2
        .dense  "bad/floats.npy"          #! error 17-33: the array holds float32; the device's weights are int8 (pe.element)
        .dense  "bad/wide.npy"            #! error 17-31: the array has 65600 columns, at most 65536
        .dense  "weights.npy", pes=17     #! error 36-38: pes: 17 is out of range, 1 to 4
        .dense  "weights.npy", 3          #! error 9-33: .dense takes other operands | write .dense "file.npy" [[rows, ...]] [, clusters=M] [, pes=K]
        .list   l
        config  ib=0, s
        exe     ib=0, data=(w)            #! error 29-30: 'w' has 2 rounds | name one, w[0] to w[1]
        exe     ib=0, data=(w[2])         #! error 31-32: rounds of 'w': 2 is out of range, 0 to 1
        exe     ib=0, data=(w[0:1])       #! error 29-35: 'w' takes the number of a round, 0 to 1
        exe     ib=0, data=(w[0] broadcast)  #! error 29-43: 'w' has 8 rows in a round, broadcast takes 1 | clusters= and pes= of .dense say how many
        exe     ib=0, data=(w[0] records)  #! error 29-41: 'w' holds values without indices
        exe     ib=0, data=(w[0] dense compress)  #! error 40-48: the segment says its form twice
        exe     ib=0, data=(activations x dense)  #! error 29-48: 'dense' is for weights, not for activations
        exe     ib=0, data=(k dense)      #! error 29-36: 'k' holds index and value, 'dense' is for values without indices
        exe     ib=0, data=(k compress)   #! error 29-39: 'k' holds index and value, 'compress' is for values without indices
        exe     ib=0, data=(weights z sliced dense)  #! error 29-51: 'z' holds int16; weights are int8 where pe.element is int8
        exe     ib=0, data=(weights x[0:63] sliced dense)  #! error 29-57: 'x' has 63 elements here, which 8 cannot share | sliced gives each the same number
        .endlist
