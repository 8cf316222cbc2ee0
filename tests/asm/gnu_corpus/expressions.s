#--- operators_in_brackets
        .data
        .word   (1 + 2) * 3, 7 - (2 * 3), (6 / 4), (7 % 4), (1 << 4) | 1, (0xff & 0x3c), (5 ^ 1)
#--- negative_division
        .data
        .dword  -7 / 2, -7 % 2, 7 / -2, 7 % -2
#--- comparison_is_minus_one
        .data
        .dword  1 < 2, 2 < 1, 1 == 1, 1 != 1, 1 <= 1, 2 >= 3, 1 <> 2, 2 > 1
#--- logic_is_one
        .data
        .dword  1 && 2, 0 && 1, 0 || 3, 0 || 0, !0, !5
#--- complement
        .data
        .word   ~0, ~1, -(-3), +4, - 5
#--- shift_right_brings_zeros
        .data
        .dword  -1 >> 60, 1 << 63, (-1 >> 1)
#--- characters
        .data
        .byte   'a', 'Z', ' ', '0', '\n', '\\', '\''
#--- characters_without_the_second_quote
        .data
        .byte   'a, 'b
#--- number_bases
        .data
        .word   0x1F, 0X1f, 017, 0b101, 0B11, 10, 0, 00
#--- large_numbers
        .data
        .dword  0xffffffffffffffff, 0x8000000000000000, 18446744073709551615, -9223372036854775808
#--- octa
        .data
        .octa   1, 0x123456789abcdef0123456789abcdef0, 340282366920938463463374607431768211455
#--- octa_negative
        .data
        .octa   -1, -2
#--- symbols_in_expressions
        .set    a, 5
        .equ    b, a * 2
        c = b + 1
        .data
        .word   a, b, c, a + b * c
#--- set_again
        .data
        .set    n, 1
        .word   n
        .set    n, n + 1
        .word   n
        n = n * 10
        .word   n
#--- equiv
        .equiv  e, 7
        .data
        .word   e
#--- equiv_twice
        .equiv  e, 7
        .equiv  e, 8
#--- eqv_is_computed_later
        .set    n, 1
        .eqv    t, n * 2
        .data
        .word   t
        .set    n, 5
        .word   t
#--- double_equals
        nop
        h == . + 4
        .word   h
        .word   h
#--- set_to_a_label
x:      nop
        .set    y, x
        .set    z, x + 4
        j       y
        .word   z - x
#--- set_forward
        .word   v
        .set    v, 9
#--- set_forward_of_a_label
        j       y
        nop
        .set    y, x
x:      nop
#--- forward_to_what_is_set_twice
        .data
        .word   q
        .set    q, 1
        .word   q
        .set    q, 2
        .word   q
#--- forward_in_an_instruction
        li      a1, 1
        addi    a0, zero, q
        .set    q, 3
        addi    a0, zero, q
        .set    q, 4
        addi    a0, zero, q
#--- formula_kept_at_its_line
        .set    a, 2
        .set    b, a + 1
        .set    a, 10
        .data
        .word   b
#--- point_in_set
        nop
        here = .
        nop
        .word   . - here
#--- hi_lo_of_numbers
        lui     a0, %hi(0x12345fff)
        addi    a0, a0, %lo(0x12345fff)
        lui     a1, %hi(-1)
        addi    a1, a1, %lo(-1)
        lui     a2, %hi(0x800)
        addi    a2, a2, %lo(0x800)
#--- sum_of_many
        .data
        .word   1 + 2 + 3 + 4 + 5 - 6 - 7 + 8
#--- same_precedence_from_the_left
        .data
        .word   100 - 10 - 1, 100 / 10 / 5, 2 * 3 / 2, 1 << 2 << 3
#--- product_before_sum
        .data
        .word   2 + 3 * 4, 20 - 6 / 2, 2 * 3 + 4 * 5
#--- brackets
        .data
        .word   ((((5)))), (1 + (2 * (3 - 1)))
#--- division_by_zero
        .data
        .word   1 / 0
#--- difference_of_sections
        .word   x - y
x:      nop
        .data
y:      .word   0
#--- label_times_two
x:      .word   x * 2
#--- sum_of_labels
x:      .word   x + x
#--- difference_in_a_condition
x:      nop
y:
        .if     y - x == 4
        .word   1
        .else
        .word   2
        .endif
#--- difference_as_immediate
x:      nop
        nop
y:      addi    a0, zero, y - x
        li      a1, y - x
#--- byte_too_large
        .byte   256
#--- byte_too_small
        .byte   -129
#--- half_too_large
        .half   65536
#--- byte_limits
        .data
        .byte   255, -128, -1
        .half   65535, -32768
#--- word_limits
        .data
        .word   4294967295, -2147483648
