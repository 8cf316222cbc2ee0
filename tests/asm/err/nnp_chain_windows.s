# Windows: each iteration has one, and a product takes all of its vectors.
        .core   nnp
        Set2dWindows(6, 4, 3, 1, 0, 2)
        SetIterations(8)
        SetCols(18)
        v_rd    InitialVrf, 0
        mv_mul  0
        v_wr    NetOutQ
        SetIterations(9)
        v_rd    InitialVrf, 0             #! error 9-30: the volume has 8 windows, iterations is 9 | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        mv_mul  0
        v_wr    NetOutQ
        SetIterations(1)
        SetCols(9)
        v_rd    InitialVrf, 0
        mv_mul  0                         #! error 9-18: cols is 9, a window has 18 vectors (kernel * kernel_y * depth) | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        v_rd_inc InitialVrf, 0, 1       # reads cols vectors
        mv_mul  0
        v_wr    NetOutQ
        v_rd    NetInQ                    #! error 9-23: NetInQ holds no volume; while windows are set, v_rd_inc reads cols vectors | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        SetKernel(7)
        v_rd    InitialVrf, 0             #! error 9-30: a window of 7 x 7 positions is larger than the volume, 6 x 4 | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        v_rd    InitialVrf, 0             #! error 9-30: a window of 7 x 7 positions is larger than the volume, 6 x 4 | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        Set2dWindows(2, 3, 6, 2, 1, 1)
        v_rd    InitialVrf, 0             #! error 9-30: a window of 6 x 6 positions is larger than the volume, 2 x 3 with 1 of padding around it | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        Set2dWindows(300, 300, 256, 1, 0, 1)
        v_rd    Dram, 0                   #! error 9-24: a window has 65536 vectors, of which a chain takes 65535 at most | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        Set2dWindows(6, 4, 1, 1, 1, 1)
        SetKernelY(3)
        SetPadY(0)
        SetDilationY(2)
        v_rd    InitialVrf, 0             #! error 9-30: a window of 1 x 5 positions is larger than the volume, 6 x 4 with 1 of padding at its sides, 0 above and below it | rule windows: The window of each iteration is in the volume, and for a product of windows cols is kernel * kernel_y * depth.
        v_wr    NetOutQ
        end_chain
