#--- forward_and_backward
a:      j       b
        j       a
b:      j       a
#--- numbers_reused
1:      j       1f
1:      j       1b
        j       1f
1:      nop
#--- numbers_large
4294967:  j     4294967b
        j       99f
99:
#--- labels_of_one_place
x: y:   z:
        .word   x - y, z - x
        j       z
#--- label_alone_then_data
        .data
first:
second: .byte   1
        .word   second - first
#--- names_with_points
a.b.c:  j       a.b.c
.La.b:  j       .La.b
$dollar: j      $dollar
_u1$2.3: j      _u1$2.3
#--- label_of_a_mnemonic
add:    j       add
ret:    ret
        la      a0, add
#--- label_of_a_register
        .data
a0x:    .word   a0x - a0x
#--- distance_in_text
start:  nop
        nop
end:    .word   end - start, start - end, (end - start) / 2, end - start - 1
#--- distance_to_here
        nop
        .word   . - 4
x:      .word   . - x, x - .
#--- here_in_a_list
        .word   ., ., .
#--- address_plus_number
        .data
t:      .word   t, t + 4, t - 4, 4 + t
#--- across_sections
        .data
d:      .word   c, c + 8
        .text
c:      .word   d, d + 8
#--- halves_of_addresses
        lui     a0, %hi(d)
        addi    a0, a0, %lo(d)
        lw      a1, %lo(d)(a0)
        sw      a1, %lo(d + 4)(a0)
        .data
        .space  0x7fc
d:      .word   1, 2
#--- pcrel_pair
1:      auipc   a0, %pcrel_hi(d)
        addi    a0, a0, %pcrel_lo(1b)
x:      auipc   a1, %pcrel_hi(d + 4)
        lw      a1, %pcrel_lo(x)(a1)
        .data
        .space  0xffc
d:      .word   1, 2
#--- global_and_defined
        .globl  main
        .global other
main:   nop
other:  j       main
#--- extern_says_nothing
        .extern x
x:      nop
#--- weak_and_defined
        .weak   w
w:      nop
        lui     a0, %hi(w)
#--- weak_and_not_defined
        .weak   missing
        lui     a0, %hi(missing)
        addi    a0, a0, %lo(missing)
        .word   missing, missing + 4
#--- hidden_and_protected
        .hidden h
        .protected p
        .internal i
h:      nop
p:      j       h
i:      j       p
#--- local_says_nothing
        .local  l
l:      j       l
#--- quoted_symbol
"with blank": nop
        j       "with blank"
        .word   "with blank"
#--- quoted_as_plain
"plain": nop
        j       plain
#--- label_and_statement_and_semicolon
a: nop; b: nop; c: j a; j b; j c
#--- undefined_symbol
        j       nowhere
#--- duplicate_label
x:      nop
x:      nop
#--- duplicate_number_is_no_error
5:      nop
5:      nop
        j       5b
#--- no_number_before
        j       3b
#--- no_number_after
        j       3f
#--- plt
        call    f@plt
f:      ret
#--- branch_limits
x:      .space  4094
        .space  2
        beq     a0, a1, x
        .space  4
#--- jump_far
x:      .space  0x80000
        j       x
#--- call_to_the_other_section
        call    f
        tail    f
        jump    f, t0
        .data
        .space  0x1804
f:      .word   0
#--- size_and_type
f:      nop
        .type   f, @function
        .size   f, . - f
g:      nop
        .type   g, %function
        .size   g, 4
        .type   o, "object"
o:      .word   1
        .type   n, STT_NOTYPE
n:      nop
