# The program of a source that has no cp part. It walks the commands that layout
# puts behind it: eight words each, {what, a, b, c, d, e, f, 0}.
#
#   0 end
#   1 copy         destination, source, bytes a row, rows, destination stride, source stride
#   2 wait for all copies
#   3 swap         mask of memory units
#   4 dispatch     mask of rows, packet list
#   5 start        core number, entry
#   6 wait         mask of cores
#
# Its labels begin with `default.`, so that they meet none of the user's.

        .core   cp
default.first:
        la      s0, default.commands
default.next:
        lw      t0, 0(s0)
        lw      a1, 4(s0)
        lw      a2, 8(s0)
        addi    a3, s0, 4               # a copy's words are a transfer's description
        addi    s0, s0, 32
        li      t1, 1
        beq     t0, t1, default.copy
        li      t1, 2
        beq     t0, t1, default.copied
        li      t1, 3
        beq     t0, t1, default.swap
        li      t1, 4
        beq     t0, t1, default.run
        li      t1, 5
        beq     t0, t1, default.start
        li      t1, 6
        beq     t0, t1, default.wait
default.end:
        li      a0, 0
        li      a7, 93
        ecall
default.copy:
        dma.copy a0, a3
        j       default.next
default.copied:
        dma.wait zero
        j       default.next
default.swap:
        mem.swap a1
        j       default.next
default.run:
        dispatch a1, a2
        j       default.next
default.start:
        core.start a1, a2
        j       default.next
default.wait:
        core.wait a1
        j       default.next

        .section .data.cp
default.commands:
