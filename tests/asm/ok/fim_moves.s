# Operations by what they move, each one word, for each of the ten; functions by symbol and name.
        .device tiny
        .core   fim, island=0
        .block  banks=0-3                 #! bytes .fim.0 0f000004
          act   1                         #! bytes .fim.0 0100000c
          gio <- iosa[3]                  #! bytes .fim.0 01000614
          iosa[3] <- gio                  #! bytes .fim.0 01004614
          rop <- iosa[2:4]                #! bytes .fim.0 02088414
          rop <- gio                      #! bytes .fim.0 0100c014
          iosa[30:32] <- rz               #! bytes .fim.0 02083c15
          gio <- rz                       #! bytes .fim.0 01004015
          mmr   op, mul                   #! bytes .fim.0 02000080
          rz <- rop * iosa[4]             #! bytes .fim.0 01008815
          rz <- (rop * iosa[4:8])         #! bytes .fim.0 04088815
          rz <- rop * gio                 #! bytes .fim.0 0100c015
          rz <- iosa[0] * gio             #! bytes .fim.0 01000016
          rop <- rz                       #! bytes .fim.0 01004016
          mmr   op, add                   #! bytes .fim.0 00000080
          rz <- rop + gio                 #! bytes .fim.0 0100c015
          mmr   op, sub                   #! bytes .fim.0 01000080
          rz <- rop - gio                 #! bytes .fim.0 0100c015
          mmr   op, div                   #! bytes .fim.0 03000080
          rz <- rop / gio                 #! bytes .fim.0 0100c015
          mmr   op, and                   #! bytes .fim.0 04000080
          rz <- rop & gio                 #! bytes .fim.0 0100c015
          mmr   op, or                    #! bytes .fim.0 05000080
          rz <- rop | gio                 #! bytes .fim.0 0100c015
          mmr   op, xor                   #! bytes .fim.0 06000080
          rz <- rop ^ gio                 #! bytes .fim.0 0100c015
          mmr   op, not                   #! bytes .fim.0 07000080
          rz <- ~rop                      #! bytes .fim.0 0100c015
          rz <- ~iosa[1:3]                #! bytes .fim.0 02080216
          mmr   op, relu                  #! bytes .fim.0 08000080
          rz <- relu(rop)                 #! bytes .fim.0 0100c015
          mmr   op, vssqr                 #! bytes .fim.0 09000080
          rz <- vssqr(rop)                #! bytes .fim.0 0100c015
          mmr   op, vssqrt                #! bytes .fim.0 0a000080
          rz <- vssqrt(rop)               #! bytes .fim.0 0100c015
          mmr   op, sigmoid               #! bytes .fim.0 0b000080
          rz <- sigmoid(iosa[9])          #! bytes .fim.0 01001216
          mmr   op, tanh                  #! bytes .fim.0 0c000080
          rz <- tanh(rop)                 #! bytes .fim.0 0100c015
          mmr   op, 1 + 1                 #! bytes .fim.0 02000080
          mmr   arrange, tensor           #! bytes .fim.0 03000081
          mmr   transpose, b              #! bytes .fim.0 02000082
          rz <- rop * gio                 #! bytes .fim.0 0100c015
        end                               #! bytes .fim.0 00000008 00000000
