# Registers of the core by s_wr, by their own pseudo-instructions, and as calls.
        .core   nnp
        s_wr    rows, 2
        s_wr    cols, 3
        s_wr    iterations, 65535
        s_wr    valid, 1
        s_wr    width, 8
        s_wr    height, 8
        s_wr    kernel, 3
        s_wr    stride, 2
        s_wr    pad, 0
        s_wr    depth, 1
        s_wr    unit, 16
        s_wr    kernel_y, 1
        s_wr    stride_y, 3
        s_wr    pad_y, 0
        s_wr    dilation, 2
        s_wr    dilation_y, 1
        SetRows 2
        SetCols(3)
        SetRowsCols(N, N + 1)
        SetRowsCols rows=1, cols=2
        SetIterations(16)
        SetValid(10)
        SetWindowWidth(8)
        SetWindowHeight 8
        SetKernel(3)
        SetStride(2)
        SetPad(1)
        SetDepth(2)
        SetIncrementUnit(2)
        SetKernelY(1)
        SetStrideY(3)
        SetPadY(0)
        SetDilation(2)
        SetDilationY(1)
        Set2dWindows(1, 1, 1, 1, 0, 1)
        SetIterations(1)
        trace_begin 3
        trace_end 3
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
        .equ    N, 2
