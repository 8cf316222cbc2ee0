# Dots advance rz_slot; a word that then moves another slice than they filled is probably wrong.
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   op, mul
          mmr   arrange, dot
          act   0
          rz <- rop * iosa[16:20]
          iosa[1] <- rz                 #! warning 11-24: operation 4 moves slice 4 of Rz, because dots have advanced rz_slot to 4; their results are in slice 0 | write `mmr rz_slot, 0` before it
          push  rz                      #! warning 11-19: push moves slice 4 of Rz, because dots have advanced rz_slot to 4; their results are in slice 0 | write `mmr rz_slot, 0` before it
          push  gio
          rop <- gio
          mmr   rz_slot, 0
          rop <- rz
          rz <- rop * iosa[16:32]
          iosa[1] <- rz
          mmr   rz_slot, 3
          iosa[2] <- rz
          loop  3
            rz <- rop * iosa[16:20]
            iosa[1] <- rz
          endloop
          iosa[1] <- rz
        end
        .block  banks=1
          mmr   op, mul
          mmr   arrange, dot
          mmr   format, fp32
          mmr   rz_step, 1
          act   0
          rz <- rop * iosa[17]
          iosa[0] <- rz
          gio <- rz                     #! warning 11-20: operation 5 moves slice 2 of Rz, because dots have advanced rz_slot to 2; their results are in slices 0 and 1 | write `mmr rz_slot, 0` before it
        end
