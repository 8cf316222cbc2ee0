# Twelve activations do not divide among eight PEs.
#! fault slice mismatch: segment 0: 12 bytes are no whole number of int8 elements for each of 8 slices
#! core pe\[0\]
        .device tiny
        .equ    UNIT, 0x10000000        # a symbol would be refused by the assembler
        .core   pe
x:      .space  12, 1
        .seq    load
          ld    activations             #! here
        .endseq
        config  ib=0, load
        exe     ib=0, data=(activations unit[x - UNIT : x + 12 - UNIT] sliced)
