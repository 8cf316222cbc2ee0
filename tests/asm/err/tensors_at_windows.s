# Tensors at windows: whole vectors of the core's native dimension (32 of float16 on base).
        .device base
        .input  x, float16, 33, at=netin  #! error 36-41: 'x' has 66 bytes, netin takes multiples of 64
        .output y, float16, 64, at=netout
        .output z, float16, 63, at=netout  #! error 36-42: 'z' has 126 bytes, netout takes multiples of 64
        .output u, float32, 32, at=netout  #! error 20-27: 'u' is float32, netout of this device is for float16
        .input  v, uint16, 32, at=netin   #! error 20-26: 'v' is uint16, netin of this device is for float16
        .input  m, uint32, 18, at=message
        .input  w, float16, 32, at=netout  #! error 36-42: 'w' is an input, netout is for outputs
        .output k, float16, 32, at=netin  #! error 36-41: 'k' is an output, netin is for inputs
        .core   nnp
        end_chain
