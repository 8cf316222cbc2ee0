#--- comma_missing
        .core   cp
        add     a0 a1, a2
#--- comma_missing_at_the_end
        .core   cp
        addi    a0, a1 5
#--- comma_missing_before_an_offset
        .core   cp
        lw      a0 0(sp)
#--- colon_missing
        .core   cp
loop    addi    a0, a0, -1
        bnez    a0, loop
#--- colon_missing_on_a_line_of_its_own
        .core   cp
start
        nop
#--- csr_unknown
        .core   cp
        csrr    a0, mstatus
#--- csr_misspelt
        .core   cp
        csrr    a0, cycl
#--- directive_unknown_with_strange_operands
        .core   cp
        .org86  5 @ 6 (
#--- directive_misspelt
        .core   cp
        .wrod   1
#--- mnemonic_misspelt
        .core   cp
        addd    a0, a1, a2
#--- mnemonic_of_arm
        .core   cp
        mov     a0, a1
#--- mnemonic_of_x86
        .core   cp
        push    a0
#--- mnemonic_in_capitals
        .core   cp
        ADDI    a0, a0, 1
#--- mnemonic_of_another_width
        .core   cp
        addiw   a0, a0, 1
#--- compressed
        .core   cp
        c.addi  a0, 1
#--- floating_point
        .core   cp
        fadd.s  fa0, fa1, fa2
#--- pause
        .core   cp
        pause
#--- register_misspelt
        .core   cp
        add     a0, a1, a8
#--- register_as_percent
        .core   cp
        add     %a0, %a1, %a2
#--- register_with_dollar
        .core   cp
        add     $a0, $a1, $a2
#--- hash_before_an_immediate
        .core   cp
        addi    a0, a0, #1
#--- immediate_too_large
        .core   cp
        addi    sp, sp, -4096
#--- immediate_for_a_register
        .core   cp
        sub     a0, a1, 4
#--- register_for_an_immediate
        .core   cp
        addi    a0, a1, a2
#--- brackets_of_arm
        .core   cp
        lw      a0, [sp, 4]
#--- brackets_forgotten
        .core   cp
        lw      a0, 4 sp
#--- bracket_not_closed
        .core   cp
        lw      a0, 4(sp
#--- offset_behind
        .core   cp
        lw      a0, (sp)4
#--- operands_exchanged
        .core   cp
        sw      0(sp), a0
#--- one_operand_too_few
        .core   cp
        add     a0, a1
#--- label_undefined
        .core   cp
        j       lop
loop:   nop
#--- label_defined_twice
        .core   cp
x:      nop
x:      nop
#--- label_begins_with_a_digit
        .core   cp
2nd:    nop
#--- hexadecimal_without_0x
        .core   cp
        li      a0, FFh
#--- string_not_closed
        .core   cp
        .asciz  "hello
#--- single_quotes_for_a_string
        .core   cp
        .asciz  'hello'
#--- semicolon_as_a_comment
        .core   cp
        nop     ; wait a moment
#--- equals_with_colon
        .core   cp
        x := 5
#--- dma_without_its_operand
        .core   cp
        dma.wait
#--- mask_written_as_a_number
        .core   cp
        mem.swap 1
#--- section_unknown
        .core   cp
        .section data
#--- data_in_bss
        .core   cp
        .bss
x:      .word   5
