# Hints of nnp in other parts, and before the first part, are lost: a warning says so.
        .device tiny
        .hint   tensor W, MatrixRf, 0, 8, 7  #! warning 17-23: a hint 'tensor' is of parts of nnp: it is ignored | write it after .core nnp
        .hint   unroll=4                # not ours: ignored
        .core   cp
        .hint   tensor x, NetInQ, 0, 1, 4  #! warning 17-23: a hint 'tensor' is of parts of nnp: it is ignored | write it after .core nnp
        .hint   tensor                  #! warning 17-23: a hint 'tensor' is of parts of nnp: it is ignored | write it after .core nnp
        .hint
        .hint   "tensor"
        .hint   balance
_start: ebreak
        .core   nnp
        .hint   tensor                  #! error 9-23: .hint takes other operands | write .hint tensor NAME, mem, addr, rows, cols
        v_rd    NetInQ; v_wr NetOutQ
        end_chain
