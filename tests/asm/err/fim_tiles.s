# Tiles of what is no matrix of lanes, in layouts that there are not.
        .tiles  "matrix.npy", layout=dot  #! error 9-41: .tiles needs side= | write .tiles "file.npy" [[rows, ...]], layout=LAYOUT, side=a|b|c
        .tiles  "matrix.npy", layout=dots, side=a  #! error 38-42: no layout is called 'dots' | did you mean 'dot'?
        .tiles  "matrix.npy", layout=5, side=a  #! error 38-39: layout: a word is needed | there are elementwise, dot, outer, tensor
        .tiles  "matrix.npy", layout=dot, side=d  #! error 48-49: no side is called 'd' | there are a, b, c
        .tiles  "matrix.npy"[0], layout=dot, side=a  #! error 17-32: the array is 20, tiles are made of a matrix
        .tiles  "weights.npy", layout=tensor, side=a  #! error 17-30: the array holds int8; tiles of tensor take float16, int16, uint16, bfloat16
        .tiles  "wide.npy", layout=tensor, side=a  #! error 17-27: the array holds float32; tiles of tensor take float16, int16, uint16, bfloat16
        .tiles  layout=dot, side=a        #! error 9-35: .tiles takes other operands | write .tiles "file.npy" [[rows, ...]], layout=LAYOUT, side=a|b|c
