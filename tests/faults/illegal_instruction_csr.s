# A control and status register that the core does not have.
#! fault illegal instruction: the control and status register 0x7d0 does not exist
#! core cp
        .core   cp
        csrr    a0, 0x7d0               #! here
