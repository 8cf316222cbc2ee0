# Abilities that do not go together, and operations that a loop's end makes others.
        .device "fim_small.toml"
        .core   fim, island=0
        .block  banks=0
          mmr   op, mul
          mmr   arrange, outer
          rz <- rop * gio                 #! error 11-26: outer of fp16 fills 16 columns of Rz, island 0 has 8 (rz_slices) | island 1 can do it
          mmr   arrange, tensor
          rz <- rop * gio
          mmr   transpose, a
          rz <- rop * gio                 #! error 11-26: island 0 cannot transpose a | island 2 can do it
          mmr   format, fp32
          rz <- rop * gio                 #! error 11-26: the arrangement tensor takes fp16 or bf16, not fp32
          mmr   arrange, elementwise
          loop  2
            rz <- rop * gio               #! error 13-28: from the second pass of the loop on, this is mul, the last mmr op says add
            mmr op, add
            rz <- rop + gio
          endloop
          mmr   format, fp16
          mmr   op, mul
          loop  2
            fim 7                         #! error 13-18: from the second pass of the loop on, island 0 has no tanh, but add, sub, mul, relu | island 3 can do it
            loop 2
            fim 7
            endloop
            mmr op, tanh
          endloop
        end
        block   0x32                      #! error 17-21: bank 5 is out of range, 0 to 3
          act   100                       #! error 17-20: row: 100 is out of range, 0 to 99
          rop <- iosa[0                   #! error 24-25: the line ends where ']' should be
        end
        .block  banks=3                   #! error 9-24: a block without its end
