# A slice of Rz that the island does not have.
#! fault not available: slice 2 of Rz \(rz_slot\): fim\[1\] has 2, 0 to 1
#! core fim\[1\]
        .device tiny
        .core   fim, island=1
        .block  banks=0
          mmr   rz_slot, 2
          gio <- rz                    #! here
        end
