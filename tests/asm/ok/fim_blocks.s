# Blocks of several ranges of banks, two programs in one part, loops that leave the last op alone.
        .device base
        .core   fim, island=3
first:  .block  banks=(0-1, 4, 15)        #! bytes .fim.3 13800004
          mmr   op, mul                   #! bytes .fim.3 02000080
          loop  3                         #! bytes .fim.3 03000018
          rz <- rop * gio                 #! bytes .fim.3 0100c015
          loop  1                         #! bytes .fim.3 01000018
          mmr   op, mul                   #! bytes .fim.3 02000080
          endloop                         #! bytes .fim.3 0000001c
          endloop                         #! bytes .fim.3 0000001c
        end                               #! bytes .fim.3 00000008
        .block  banks=(2)                 #! bytes .fim.3 04000004
        end                               #! bytes .fim.3 00000008
        endall                            #! bytes .fim.3 00000000
second: .block  banks=0-15                #! bytes .fim.3 ffff0004
          mmr   b0_low, BUFFER            #! bytes .fim.3 01006087
          mmr   b0_high, BUFFER + 32 * 16 #! bytes .fim.3 11006088
        end                               #! bytes .fim.3 00000008 00000000
        .set    BUFFER, 0x4c000020
        .data
        .word   first, second
