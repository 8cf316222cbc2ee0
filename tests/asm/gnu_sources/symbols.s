# Symbols that are set, again and again, before and after their use.
        .equ    one, 1
        .set    two, one + 1
three = two + 1
        .equiv  four, three + 1
        .data
        .byte   one, two, three, four
        .set    turn, 5
        .byte   turn
        .set    turn, turn + 1
        .byte   turn
        .set    turn, turn * 2
        .byte   turn
here:   .word   end - here, alias - here
        .equ    alias, here + 4
        .set    place, . - here
        .byte   place
        .word   later
        .equ    later, 0x12345678
        .byte   .Lhidden - here
.Lhidden:
end:
        .text
        li      a0, three
        addi    a0, a0, four - one
        .equ    size, end - here
        addi    a0, a0, size
a: b:   nop
c:      j       a
        j       c
