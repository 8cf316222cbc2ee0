# %pcrel_lo wants the label of an auipc.
        .core   cp
        addi    a0, a0, %pcrel_lo(5)      #! error 35-36: %pcrel_lo takes the address of an instruction that has %pcrel_hi
here:   nop
        addi    a0, a0, %pcrel_lo(here)   #! error 35-39: %pcrel_lo takes the address of an instruction that has %pcrel_hi
