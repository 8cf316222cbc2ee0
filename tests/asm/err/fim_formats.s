# Number formats that there are not, and what int8 does not have.
        .device "fim_int8.toml"
        .core   fim, island=0
        .block  banks=0
        mmr     rz_shift, 32                 #! error 27-29: value: 32 is out of range, 0 to 31
        mmr     format, int4              #! error 25-29: format has no value 'int4' | did you mean 'int8'?
        mmr     format, fp8               #! error 25-28: format has no value 'fp8' | there are fp16, fp32, bf16, int8
        end
        .block  banks=1
        mmr     op, mul
        rz <- rop * iosa[0]               #! error 9-28: island 0 has no fp16, but int8 | write mmr format, int8 before it; format is fp16 at the start
        mmr     format, int8
        rz <- rop * iosa[0]
        mmr     arrange, outer
        rz <- rop * iosa[0]               #! error 9-28: the arrangement outer takes fp16 or fp32 or bf16, not int8
        mmr     arrange, tensor
        rz <- rop * iosa[0]               #! error 9-28: the arrangement tensor takes fp16 or bf16, not int8
        mmr     arrange, elementwise
        mmr     op, div
        rz <- rop / iosa[0]               #! error 9-28: div has no results in int8: most of its results are no integers
        mmr     op, vssqrt
        rz <- vssqrt(rop)                 #! error 9-26: vssqrt has no results in int8: most of its results are no integers
        end
        .core   fim, island=1
        .block  banks=0
        mmr     op, relu
        mmr     format, int8
        rz <- relu(rop)                   #! error 9-24: a slice of int8 fills 4 columns of Rz, island 1 has 3 (rz_slices) | island 0 can do it
        end
