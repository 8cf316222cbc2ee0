# While row 0 runs, cp lets the DMA write to the half that the row feeds from.
#! fault isolation violation: write at 0x10000000, in the half from which pe\[0\] feeds and runs; transfer 2 of cp: .*
#! core dma
        .device tiny
        .core   cp
        la      a0, image
        dma.copy zero, a0
        dma.wait zero
        li      a0, 1
        mem.swap a0
        la      a1, list
        dispatch a0, a1
        la      a0, image               # the same half again: mem.swap is missing
        dma.copy zero, a0               #! here
        lui     a0, 0x10                # core 16 is row 0
        core.wait a0
        .section .data.cp
        .align  2
image:  .word   list, load_address(list), many + 4000 - list, 1, 0, 0
        .core   pe
        .list   list
        config  ib=0, load
        exe     ib=0, data=(activations many broadcast)
        .endlist
        .seq    load
          ld    activations
        .endseq
many:   .space  4000
