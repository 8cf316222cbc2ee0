# A jump to the middle of an instruction.
#! fault misaligned access: jalr to 0x0001000a, which is no multiple of 4
#! core cp
        .core   cp
        la      a0, target + 2
target: jr      a0                      #! here
