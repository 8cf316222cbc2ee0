# A matrix of 5 x 20 as tiles: element [r][c] is (20 r + c - 37) / 4, zeros around it.
        .device base
        .section .data
dot_a:  .tiles  "matrix.npy", layout=dot, side=a
        #! at .data+0 a0c880c860c840c820c800c8c0c780c740c700c7c0c680c640c600c6c0c580c5
        #! at .data+32 40c500c5c0c480c4000000000000000000000000000000000000000000000000
        #! at .data+64 0000000000000000
dot_b:  .tiles  "matrix.npy"[0:4, 0:4], layout=dot, side=b
        #! at .data+1024 a0c840c4003ac045000000000000000000000000000000000000000000000000
        #! at .data+1056 80c800c4003c0046
block:  .tiles  "matrix.npy", layout=tensor, side=c
        #! at .data+1536 a0c880c860c840c840c400c480c300c3003a003c
        .word   dot_a, dot_b, block, sizeof(dot_a) / 512, sizeof(dot_b) / 512, sizeof(block) / 512
