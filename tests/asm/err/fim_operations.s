# Operations that there are not, columns and values out of range, what the island cannot do.
        .device base
        .core   fim, island=0
        .block  banks=0
          mmr   op, mull                  #! error 21-25: op has no value 'mull' | did you mean 'mul'?
          mmr   opp, mul                  #! error 17-20: 'opp' is no memory-mapped register and no symbol | did you mean 'op'?
          mmr   foobar, 1                #! error 17-23: 'foobar' is no memory-mapped register and no symbol | there are op, arrange, transpose, accumulate, format, rz_slot, rz_step, b0_low, b0_high, b0_start, b0_end, b1_low, b1_high, b1_start, b1_end, b2_low, b2_high, b2_start, b2_end, b3_low, b3_high, b3_start, b3_end, b4_low, b4_high, b4_start, b4_end, b5_low, b5_high, b5_start, b5_end, b6_low, b6_high, b6_start, b6_end, b7_low, b7_high, b7_start, b7_end, row0, row1, row2, row3, rz_shift
          mmr   op, add
          rz <- rop % gio                 #! error 17-26: the ALU has no '%' | there are +, -, *, /, &, |, ^
          rz <- -rop                      #! error 17-21: the ALU has no '-' of one operand
          rz <- tan(rop)                  #! error 17-20: the ALU has no function tan(...) | did you mean 'tanh'?
          rz <- (1 + 2)(rop)              #! error 17-24: the name of a function is needed here
          rz <- rop + rop                 #! error 11-26: no operation moves this | there are gio <- iosa, iosa <- gio, rop <- iosa, rop <- gio, iosa <- rz, gio <- rz, rz <- rop op iosa, rz <- rop op gio, rz <- iosa op gio, rop <- rz
          gio <- gio                      #! error 11-21: no operation moves this | there are gio <- iosa, iosa <- gio, rop <- iosa, rop <- gio, iosa <- rz, gio <- rz, rz <- rop op iosa, rz <- rop op gio, rz <- iosa op gio, rop <- rz
          iosa[1] <- rop + gio            #! error 11-31: no operation moves this | there are gio <- iosa, iosa <- gio, rop <- iosa, rop <- gio, iosa <- rz, gio <- rz, rz <- rop op iosa, rz <- rop op gio, rz <- iosa op gio, rop <- rz
          rop <- ~gio                     #! error 11-22: no operation moves this | there are gio <- iosa, iosa <- gio, rop <- iosa, rop <- gio, iosa <- rz, gio <- rz, rz <- rop op iosa, rz <- rop op gio, rz <- iosa op gio, rop <- rz
          rop <- ioza[1]                  #! error 18-25: 'ioza' is no register | did you mean 'iosa'?
          rop <- 5                        #! error 18-19: a register is needed here | there are rop, rz, gio, iosa[COLUMN]
          rop <- iosa                     #! error 18-22: iosa needs a column | write iosa[0] to iosa[31]
          rop <- iosa[1, 2]               #! error 18-28: iosa takes one column, or a range of them
          rop <- iosa[32]                 #! error 23-25: column: 32 is out of range, 0 to 31
          rop <- iosa[3:3]                #! error 23-26: the range 3:3 is empty
          rop <- iosa[:3]                 #! error 23-25: both ends of a range of columns are needed
          rop <- rz[1]                    #! error 18-23: rz has no columns
          rop <-                          #! error 17-18: the line ends where an operand should be
          fim   10                        #! error 17-19: n: 10 is out of range, 0 to 9
          fim   2, 0, 1, 0                #! error 26-27: repeat: 0 is out of range, 1 to 2047
          act   4096                      #! error 17-21: row: 4096 is out of range, 0 to 4095
          mmr   op, mul
          mmr   op, add
          push  iosa                      #! error 17-21: 'iosa' is no register for push | a register for push, rz, gio or rop
          pull  rz                        #! error 17-19: 'rz' is no register for pull | a register for pull, rop or gio
          lock  8                         #! error 17-18: buffer: 8 is out of range, 0 to 7
          mmr   b0_low, 0x80000000        #! error 25-35: value: 0x80000000 is out of range, 0x40000000 to 0x5fffffff | the address of a column of an island
          mmr   b0_low, 0x40000010        #! error 25-35: value: 0x40000010 is not a multiple of 32
          mmr   b0_low, later             #! error 25-30: value: 0x30800014 is out of range, 0x40000000 to 0x5fffffff | the address of a column of an island
later:  end
        .core   cp
        rop <- gio                        #! error 13-15: cp has no instruction '<-' | 'macaw isa cp' lists what it has
