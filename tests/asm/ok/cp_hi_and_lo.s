# %hi and %lo put an address together; a lower half of 0x800 and more carries.
        .core   cp
        lui     a0, %hi(0x12345678)
        addi    a0, a0, %lo(0x12345678)
        lui     a1, %hi(0x12345fff)
        addi    a1, a1, %lo(0x12345fff)
        lw      a2, %lo(0x800)(zero)
        sw      a2, %lo(0x7ff)(zero)
#! bytes .text.cp 37553412 13058567 b7653412 9385f5ff
#! bytes .text.cp 03260080 a32fc07e
