# The divisions of M.
        .core   cp
        div     a0, a1, a2
        divu    a3, a4, a5
        rem     s0, s1, s2
        remu    t0, t1, t2
#! bytes .text.cp 33c5c502 b356f702 33e42403 b3727302
