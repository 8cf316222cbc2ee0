# Words that are none of this island's, or do not go with those before them.
        .device base
        .core   fim, island=0
        .block  banks=0
          rz <- rop * iosa[0]             #! error 11-30: the block has no mmr op before it, and this is mul | write mmr op, mul before it
          mmr   op, 13                    #! error 21-23: value: 13 is out of range, 0 to 12
          mmr   rz_slot, 16               #! error 26-28: value: 16 is out of range, 0 to 15
          mmr   op, add
          rz <- rop * iosa[0]             #! error 11-30: this is mul, the last mmr op says add
          rz <- rop + iosa[0]
          fim   3, 1                      #! error 20-21: operation 3 has no column
          fim   3, 0, 1                   #! error 23-24: operation 3 has no column
          fim   2, 30, 1, 3               #! error 27-28: the column goes from 30 to 32, out of range, 0 to 31
          mmr   op, tanh
          rz <- tanh(rop)                 #! error 11-26: island 0 has no tanh, but add, sub, mul, relu | island 3 can do it
          mmr   op, mul
          mmr   arrange, outer
          rz <- rop * iosa[0]             #! error 11-30: island 0 has no arrangement outer, but elementwise, dot | island 1 can do it
          mmr   arrange, dot
          mmr   op, add
          fim   6                         #! error 11-14: the arrangement dot takes the function mul, not add
        end
        .core   fim, island=2
        .block  banks=0
          mmr   op, mul
          mmr   format, fp32
          rz <- rop * gio                 #! error 11-26: island 2 has no fp32, but fp16 | islands 0, 1, 3 can do it
          mmr   arrange, tensor
          rz <- rop * gio                 #! error 11-26: island 2 has no fp32, but fp16
        end
