# No more than external memory.
        .input  x, int8, 100000, 100000   #! error 9-40: .tensors grows to 10000000064 bytes, external memory has 268435456
