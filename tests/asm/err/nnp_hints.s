# Hints about tensors: names, memories, places.
        .device tiny
        .core   nnp
        .hint   tensor W, MatrixRf, W0, 8, 7
        .hint   tensor U, MatrixRf, W0 + 3, 4, 4  #! error 37-43: U overlaps W in entry 5 of MatrixRf
        .hint   tensor V, MatrixRf, W0 + 4, 4, 4
        .hint   tensor W, InitialVrf, 0, 1, 4  #! error 24-25: a tensor W is hinted at already
        .hint   tensor x, InitialVrg, 0, 1, 4  #! error 27-37: nnp has no memory 'InitialVrg' | did you mean 'InitialVrf'?
        .hint   tensor x, Tensors, 0, 1, 4  #! error 27-34: nnp has no memory 'Tensors' | there are Dram, MulVrf, NetOutQ, NetInQ, MatrixRf, InitialVrf, AddSubVrf0, AddSubVrf1
        .hint   tensor x InitialVrf, 0, 1, 4  #! error 9-45: .hint takes other operands | write .hint tensor NAME, mem, addr, rows, cols
        .hint   tensor x, InitialVrf, 255, 1, 5  #! error 39-42: x needs entry 256 of InitialVrf, which has 256 (nnp.initial_vrf)
        .hint   tensor b, AddSubVrf0, 1, 0, 5  #! error 42-43: rows: 0 is out of range, 1 to 1048576
        .hint   tensor a.b, AddSubVrf0, 1, 1, 5  #! error 24-27: 'a.b' is no name of letters, digits and _
        .hint   tensor c, AddSubVrf0, unknown, 1, 5  #! error 39-46: undefined symbol 'unknown'
        .hint   tensor                    #! error 9-23: .hint takes other operands | write .hint tensor NAME, mem, addr, rows, cols
        .hint   tensr t, AddSubVrf0, 0, 1, 4  #! warning 17-22: a hint 'tensr' is used by no tool: it is ignored | did you mean 'tensor'?
        .hint   balance                 # not ours: ignored
        .hint   tensor q, NetInQ, 100000, 3, 5
        .hint   tensor r, NetInQ, 100005, 3, 5  #! error 35-41: r overlaps q in entry 100005 of NetInQ
        .hint   tensor s, NetInQ, 100006, 3, 5
        .hint   tensor d, Dram, 0, 100, 100
        .hint   tensor e, Dram, 0, 100, 100
        .equ    W0, 2
        v_rd    NetInQ; v_wr NetOutQ
        end_chain
