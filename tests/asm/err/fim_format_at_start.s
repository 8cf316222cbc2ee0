# Circuits with bf16 alone: `format` is fp16 until the program selects bf16.
        .device aim
        .core   fim, island=0
        .block  banks=0
          mmr   op, mul
          rz <- rop * iosa[0]             #! error 11-30: island 0 has no fp16, but bf16 | write mmr format, bf16 before it; format is fp16 at the start
          mmr   arrange, outer
          rz <- rop * iosa[0]             #! error 11-30: island 0 has no arrangement outer, but elementwise, dot
          mmr   arrange, dot
          mmr   format, fp32
          rz <- rop * iosa[0]             #! error 11-30: island 0 has no fp32, but bf16
          mmr   format, bf16
          rz <- rop * iosa[0]
        end
