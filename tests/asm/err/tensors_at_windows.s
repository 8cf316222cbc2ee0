# Tensors at windows: whole vectors of the core's native dimension (32 of float16 on base).
        .device base
        .input  x, float16, 33, at=netin       #! error 36-41: 'x' has 66 bytes, netin takes multiples of 64
        .output y, float32, 48, at=netout
        .output z, int8, 63, at=netout          #! error 33-39: 'z' has 63 bytes, netout takes multiples of 64
        .core   nnp
        end_chain
