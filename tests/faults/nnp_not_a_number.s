# A NaN on its way into InitialVrf, which holds quantised numbers.
#! fault not a number: element 2 of vector 1 is not a number where it is quantised
#! core nnp
        .device tiny
        .core   nnp
        SetCols(2)
        v_rd    Dram, 0
        v_wr    AddSubVrf0, 0
        v_wr    InitialVrf, 0           #! here
        end_chain
        .section .data
x:      .float16 1, 2, 3, 4, 5, 6, nan, 8
