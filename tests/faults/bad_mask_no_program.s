# The DMA runs no program; dma.copy gives it work.
#! fault bad mask: core 1, dma, has no program of its own to start
#! core cp
        .core   cp
        li      a0, 1
        core.start a0, zero             #! here
