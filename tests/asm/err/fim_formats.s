# The circuits have no int8; the hint gives the reason.
        .device tiny
        .core   fim, island=0
        .block  banks=0
        mmr     format, int8              #! error 25-29: format has no value 'int8' | sums of int8 products have 32 bits: results of a column fill 4 columns of Rz, which rz_slot cannot select, and no function makes int8 of them (docs/timing-fim.md)
        mmr     format, fp8               #! error 25-28: format has no value 'fp8' | there are fp16, fp32, bf16
        end
