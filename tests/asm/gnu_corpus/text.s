#--- comments
        nop     # one
        nop     /* three */
        /* four */ nop
        nop /* over
        lines */
        nop
#--- comment_of_two_slashes
        nop     // two
#--- comment_in_operands
        add     a0, /* x */ a1, a2
#--- hash_line
# 5 "other.s"
        nop
#--- semicolons
        nop; nop;nop ;
#--- blanks
	nop
        	add	a0	,a1 , a2   
#--- no_newline_at_the_end
        nop
#--- macro
        .macro  twice op
        \op
        \op
        .endm
        twice   nop
        twice   ret
#--- macro_defaults
        .macro  m a=1, b=2
        .byte   \a, \b
        .endm
        .data
        m
        m       5
        m       5, 6
        m       b=7
        m       , 8
#--- macro_required
        .macro  m a:req
        .byte   \a
        .endm
        m
#--- macro_vararg
        .macro  m a, rest:vararg
        .byte   \a, \rest
        .endm
        .data
        m       1, 2, 3, 4
#--- macro_recursive
        .macro  count n
        .byte   \n
        .if     \n
        count   "(\n - 1)"
        .endif
        .endm
        .data
        count   4
#--- macro_number_of_call
        .macro  m
l\@:    j       l\@
        .endm
        m
        m
#--- macro_empty_brackets
        .macro  m a
\a\()_x: j      \a\()_x
        .endm
        m       f
#--- macro_exit
        .macro  m a
        .byte   1
        .if     \a
        .exitm
        .endif
        .byte   2
        .endm
        .data
        m       0
        m       1
#--- macro_purged
        .macro  nop2
        nop
        nop
        .endm
        nop2
        .purgem nop2
        nop2
#--- macro_in_capitals
        .macro  Mixed
        nop
        .endm
        mixed
        MIXED
#--- macro_hides_an_instruction
        .macro  ret
        nop
        .endm
        ret
#--- macro_with_string
        .macro  say t
        .asciz  "\t"
        .endm
        .data
        say     hello
        say     "a b"
#--- macro_with_registers
        .macro  load r, a, o=0
        lw      \r, \o(\a)
        .endm
        load    a0, a1
        load    a0, sp, 8
#--- macro_nested_definition
        .macro  outer n
        .macro  inner\n
        .byte   \n
        .endm
        .endm
        .data
        outer   1
        outer   2
        inner1
        inner2
#--- macro_without_end
        .macro  m
        nop
#--- macro_twice
        .macro  m
        .endm
        .macro  m
        .endm
#--- macro_too_many_arguments
        .macro  m a
        .byte   \a
        .endm
        m       1, 2
#--- rept
        .data
        .rept   3
        .byte   1, 2
        .endr
#--- rept_zero
        .rept   0
        nop
        .endr
        ret
#--- rept_nested
        .data
        .rept   2
        .byte   1
        .rept   3
        .byte   2
        .endr
        .endr
#--- rept_counter
        .data
        .set    i, 0
        .rept   5
        .byte   i * i
        .set    i, i + 1
        .endr
#--- rep
        .data
        .rep    2
        .byte   7
        .endr
#--- irp
        .data
        .irp    x, 1, 2, 3
        .byte   \x
        .endr
#--- irp_registers
        .irp    r, a0, a1, a2
        mv      \r, zero
        .endr
#--- irp_without_values
        .data
        .irp    x
        .byte   5\x
        .endr
#--- irpc
        .data
        .irpc   c, 0123
        .byte   \c
        .endr
#--- irep_and_irepc
        .data
        .irep   x, 1, 2
        .byte   \x
        .endr
        .irepc  x, 34
        .byte   \x
        .endr
#--- endr_alone
        .endr
#--- rept_without_end
        .rept   2
        nop
#--- rept_negative
        .rept   -1
        nop
        .endr
#--- if
        .data
        .if     1
        .byte   1
        .endif
        .if     0
        .byte   2
        .endif
#--- if_else
        .data
        .if     0
        .byte   1
        .else
        .byte   2
        .endif
#--- elseif
        .data
        .set    n, 2
        .if     n == 1
        .byte   1
        .elseif n == 2
        .byte   2
        .elseif n == 2
        .byte   3
        .else
        .byte   4
        .endif
#--- endc
        .data
        .if     1
        .byte   1
        .endc
#--- ifdef
        .set    yes, 1
        .data
        .ifdef  yes
        .byte   1
        .endif
        .ifdef  no
        .byte   2
        .endif
        .ifndef no
        .byte   3
        .endif
        .ifnotdef yes
        .byte   4
        .endif
#--- if_compare
        .data
        .ifeq   0
        .byte   1
        .endif
        .ifne   0
        .byte   2
        .endif
        .ifgt   1
        .byte   3
        .endif
        .ifge   0
        .byte   4
        .endif
        .iflt   -1
        .byte   5
        .endif
        .ifle   1
        .byte   6
        .endif
#--- ifb
        .data
        .ifb
        .byte   1
        .endif
        .ifnb   x
        .byte   2
        .endif
        .ifb    x
        .byte   3
        .endif
#--- ifc
        .data
        .ifc    abc, abc
        .byte   1
        .endif
        .ifc    abc, abd
        .byte   2
        .endif
        .ifnc   a, b
        .byte   3
        .endif
#--- ifeqs
        .data
        .ifeqs  "a", "a"
        .byte   1
        .endif
        .ifnes  "a", "a"
        .byte   2
        .endif
#--- if_nested
        .data
        .if     1
        .if     0
        .byte   1
        .else
        .byte   2
        .endif
        .else
        .byte   3
        .endif
#--- if_skips_everything
        .data
        .if     0
        this is not read )(
        .macro  unfinished
        .endif
        .byte   1
#--- if_without_end
        .if     1
        nop
#--- endif_alone
        .endif
#--- else_twice
        .if     1
        .else
        .else
        .endif
#--- else_alone
        .else
#--- if_of_an_undefined_symbol
        .if     nothing
        .endif
#--- error
        .error  "stop"
#--- err
        .err
#--- warning
        .warning "careful"
        nop
#--- error_that_is_skipped
        .if     0
        .error  "stop"
        .endif
        nop
#--- include
        .include "included.inc"
        nop
#--- include_missing
        .include "nothing.inc"
#--- unknown_directive
        .nothing 1
#--- string_without_end
        .ascii  "abc
#--- unclosed_bracket
        .word   (1 + 2
#--- comment_without_end
        nop /* no end
#--- macro_calls_macro
        .macro  a x
        .byte   \x
        .endm
        .macro  b x
        a       \x
        a       \x + 1
        .endm
        .data
        b       3
#--- macro_with_local_labels
        .macro  wait r
1:      addi    \r, \r, -1
        bnez    \r, 1b
        .endm
        wait    a0
        wait    a1
#--- macro_table
        .macro  entry name, value
\name:  .word   \value
        .endm
        .data
        entry   first, 1
        entry   second, 2
        .word   second - first
#--- macro_push_pop
        .macro  push r:vararg
        .irp    x, \r
        addi    sp, sp, -4
        sw      \x, 0(sp)
        .endr
        .endm
        push    ra, s0, s1
#--- macro_if_blank
        .macro  m a, b
        .ifb    \b
        .byte   \a
        .else
        .byte   \a, \b
        .endif
        .endm
        .data
        m       1
        m       2, 3
#--- macro_with_blanks_for_commas
        .macro  m a b c
        .byte   \a, \b, \c
        .endm
        .data
        m       1 2 3
#--- irp_with_labels
        .irp    n, 1, 2
l\n:    j       l\n
        .endr
#--- irpc_letters
        .data
        .irpc   c, abc
        .ascii  "\c"
        .endr
#--- rept_with_labels
        .rept   2
1:      j       1b
        .endr
#--- rept_of_instructions
        .rept   4
        addi    a0, a0, 1
        .endr
#--- rept_by_symbol
        .data
        .set    n, 3
        .rept   n
        .byte   n
        .endr
#--- if_with_strings
        .data
        .macro  is a
        .ifc    \a, yes
        .byte   1
        .else
        .byte   0
        .endif
        .endm
        is      yes
        is      no
#--- if_comparisons
        .data
        .set    n, 5
        .if     n > 3 && n < 7
        .byte   1
        .endif
        .if     n == 4 || n == 5
        .byte   2
        .endif
        .if     !(n == 5)
        .byte   3
        .endif
#--- set_in_a_macro
        .macro  next
        .set    n, n + 1
        .byte   n
        .endm
        .data
        .set    n, 0
        next
        next
        next
#--- section_in_a_macro
        .macro  put v
        .pushsection .data
        .byte   \v
        .popsection
        .endm
        nop
        put     1
        put     2
        ret
