# %pcrel_lo without its %pcrel_hi.
        .core   cp
1:      auipc   a0, %pcrel_hi(1b)
        addi    a0, a0, %pcrel_lo(1b)
        addi    a0, a0, %pcrel_lo(2f)     #! error 35-37: %pcrel_lo takes the address of an instruction that has %pcrel_hi
2:      addi    a0, a0, %pcrel_lo(0x12345)  #! error 35-42: %pcrel_lo takes the address of an instruction that has %pcrel_hi
