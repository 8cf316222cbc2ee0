# A counter cannot be written; `unimp` is written as such a write.
#! fault illegal instruction: the control and status register cycle is read-only
#! core cp
        .core   cp
        unimp                           #! here
