# An operation that cp sends, with a function that the island's circuits do not have.
#! fault not available: island 1 has no div, but add, sub, mul, sigmoid, tanh
        .device tiny
        .core   cp
        li      a0, 0x20009180          # op of the circuits of island 1
        li      a1, 3                   # div
        sw      a1, 0(a0)
        lui     a1, 0x44000
        fim.send 6, a1, zero            #! here
