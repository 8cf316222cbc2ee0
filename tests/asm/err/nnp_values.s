# What s_wr sets is not 0 but for pad.
        .core   nnp
        s_wr    rows, 0                   #! error 9-24: rows is at least 1, not 0 | rule value: The value of an s_wr is at least 1; for pad and pad_y it is at least 0.
        s_wr    pad, 0
        s_wr    0, 4                      #! error 17-18: '0' is no register | one of rows, cols, iterations, valid, width, height, kernel, stride, pad, depth, unit, kernel_y, stride_y, pad_y, dilation, dilation_y
        s_wr    rowss, 4                  #! error 17-22: 'rowss' is no register | did you mean 'rows'?
        s_wr    depth, 65536              #! error 24-29: value: 65536 is out of range, 0 to 65535
        SetIterations(0)                  #! error 23-24: n: 0 is out of range, 1 to 65535
        SetPad(0)
        SetIncrementUnit(0)               #! error 26-27: n: 0 is out of range, 1 to 65535
        SetRowsCols(1)                    #! error 9-23: SetRowsCols needs the operand cols | write SetRowsCols rows, cols
        SetRowsCols(1, 2, 3)              #! error 9-29: SetRowsCols does not take 3 operands | write SetRowsCols rows, cols
        SetRowsCols(1, 0)                 #! error 24-25: cols: 0 is out of range, 1 to 65535
        SetIterations()                   #! error 9-24: SetIterations needs the operand n | write SetIterations n
        Set2dWindows(4, 4, 0, 1, 0, 1)    #! error 28-29: kernel: 0 is out of range, 1 to 65535
        v_rd_inc InitialVrf, 0, 16        #! error 33-35: inc: 16 is out of range, 0 to 15
        mv_mul  65536                     #! error 17-22: m: 65536 is out of range, 0 to 65535
        vv_mul  -1                        #! error 17-19: a: -1 is out of range, 0 to 65535
        v_sigm(1)                         #! error 9-18: v_sigm does not take 1 operand | write v_sigm
        end_chain
