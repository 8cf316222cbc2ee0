# An island sets mode registers to the same values before each operation. Mended: once.
        .device tiny
        .core   fim, island=0
        .block  banks=0-3
act 0
rop <- iosa[0]
mmr op, relu
mmr arrange, elementwise
        .rept   16
        .ifndef MENDED
mmr op, relu                            # here
mmr arrange, elementwise                # here
mmr accumulate, 0                       # here
mmr rz_slot, 0                          # here
        .endif
rz <- relu(rop)
        .endr
end
