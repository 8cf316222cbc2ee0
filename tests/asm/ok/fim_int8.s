# int8: 32 lanes; a dot writes one of 32 sums, and 32 of them are slice 0.
        .device "fim_int8.toml"
        .core   fim, island=0
        .block  banks=0
          mmr   format, int8
          mmr   op, mul
          mmr   arrange, dot
          mmr   rz_shift, 7
          act   0
          rop <- iosa[0]
          rz  <- rop * iosa[1:21]
          push  rz                      #! warning 11-19: push moves slice 20 of Rz, because dots have advanced rz_slot to 20; their results are in slice 0 | write `mmr rz_slot, 0` before it
          rz  <- rop * iosa[1:13]
          push  rz
          mmr   rz_shift, 0
        end
        .section .data
        .byte   1, -1, 127, -128
tiles:  .tiles  "weights.npy", layout=dot, side=c
#! bytes .fim.0 01000004 03000084 02000080 01000081 070000ab 0000000c 01008014 14088215 00000020 0c088215 00000020 000000ab 00000008 00000000
