#--- register_names
        add     x10, x11, x12
        add     a0, a1, a2
        add     s0, fp, x8
        add     zero, ra, sp
        add     gp, tp, t0
        add     t6, s11, s2
#--- all_of_the_base
        lui     a0, 0xfffff
        auipc   a1, 1
        addi    a0, a1, -2048
        slti    a0, a1, 2047
        sltiu   a0, a1, -1
        xori    a0, a1, -1
        ori     a0, a1, 1
        andi    a0, a1, 255
        slli    a0, a1, 31
        srli    a0, a1, 1
        srai    a0, a1, 7
#--- register_register
        add     a0, a1, a2
        sub     a0, a1, a2
        sll     a0, a1, a2
        slt     a0, a1, a2
        sltu    a0, a1, a2
        xor     a0, a1, a2
        srl     a0, a1, a2
        sra     a0, a1, a2
        or      a0, a1, a2
        and     a0, a1, a2
#--- multiply
        mul     a0, a1, a2
        mulh    a0, a1, a2
        mulhsu  a0, a1, a2
        mulhu   a0, a1, a2
        div     a0, a1, a2
        divu    a0, a1, a2
        rem     a0, a1, a2
        remu    a0, a1, a2
#--- loads_and_stores
        lb      a0, -1(a1)
        lh      a0, 2(a1)
        lw      a0, 2047(sp)
        lbu     a0, -2048(a1)
        lhu     a0, 0(a1)
        sb      a0, 1(a1)
        sh      a0, -2(a1)
        sw      a0, 0(sp)
#--- loads_without_an_offset
        lw      a0, (a1)
        sw      a0, (a1)
        lb      t0, (sp)
#--- offsets_with_blanks
        lw      a0, 4 ( a1 )
        sw      a0,8(a1)
#--- offset_expression
        .set    k, 3
        lw      a0, k * 4(a1)
        lw      a0, (k + 1) * 4(a1)
        sw      a0, 16-4(sp)
        lw      a0, -k(a1)
#--- loads_of_symbols
        lw      a0, v
        lb      a1, v
        lhu     a2, v + 4
        .data
v:      .word   1, 2
#--- stores_to_symbols
        sw      a0, v, t0
        sb      a1, v, t1
        sh      a2, v + 4, t2
        .data
v:      .word   1, 2
#--- constants_in_place_of_registers
        add     a0, a1, 5
        and     a0, a1, 7
        or      a0, a1, 7
        xor     a0, a1, 7
        sll     a0, a1, 3
        srl     a0, a1, 3
        sra     a0, a1, 3
        slt     a0, a1, 3
        sltu    a0, a1, 3
#--- branches
x:      beq     a0, a1, x
        bne     a0, a1, x
        blt     a0, a1, x
        bge     a0, a1, x
        bltu    a0, a1, x
        bgeu    a0, a1, x
        bgt     a0, a1, x
        ble     a0, a1, x
        bgtu    a0, a1, x
        bleu    a0, a1, x
#--- branches_with_zero
x:      beqz    a0, x
        bnez    a0, x
        blez    a0, x
        bgez    a0, x
        bltz    a0, x
        bgtz    a0, x
#--- branch_by_distance
        beq     a0, a1, . + 8
        j       . - 4
        jal     . + 12
#--- jumps
x:      j       x
        jal     x
        jal     t0, x
        jr      a0
        jr      4(a0)
        jr      a0, 4
        jalr    a0
        jalr    4(a0)
        jalr    t0, a0
        jalr    t0, 4(a0)
        jalr    t0, a0, 4
        ret
#--- jalr_without_an_offset
        jalr    ra, (a0)
        jr      (a0)
#--- li
        li      a0, 0
        li      a0, 2047
        li      a0, -2048
        li      a0, 2048
        li      a0, 0x12345000
        li      a0, 0x12345678
        li      a0, -1
        li      a0, 0xffffffff
        li      a0, 0x80000000
        li      a0, 'a'
        li      a0, 3 * 1000
#--- la
        la      a0, v
        lla     a1, v
        la      a2, v + 4
        .data
v:      .word   1
#--- moves
        mv      a0, a1
        move    a0, a1
        not     a0, a1
        neg     a0, a1
        seqz    a0, a1
        snez    a0, a1
        sltz    a0, a1
        sgtz    a0, a1
        sgt     a0, a1, a2
        sgtu    a0, a1, a2
        nop
#--- extend
        sext.b  a0, a1
        sext.h  a0, a1
        zext.b  a0, a1
        zext.h  a0, a1
#--- csr
        csrr    a0, cycle
        csrw    0x7c0, a0
        csrs    0x7c0, a0
        csrc    0x7c0, a0
        csrwi   0x7c0, 1
        csrsi   0x7c0, 2
        csrci   0x7c0, 3
        csrrw   a0, 0x7c0, a1
        csrrs   a0, 0x7c0, a1
        csrrc   a0, 0x7c0, a1
        csrrwi  a0, 0x7c0, 1
        csrrsi  a0, 0x7c0, 1
        csrrci  a0, 0x7c0, 31
#--- csr_with_constants
        csrw    0x7c0, 5
        csrs    0x7c0, 5
        csrrw   a0, 0x7c0, 5
        csrrc   a0, 0x7c0, 5
#--- counters
        rdcycle a0
        rdtime  a0
        rdinstret a0
        rdcycleh a0
        rdtimeh a0
        rdinstreth a0
        csrr    a0, mhartid
#--- csr_of_machine_mode
        csrr    a0, mstatus
#--- fence
        fence
        fence   rw, rw
        fence   iorw, iorw
        fence   r, w
        fence   i, o
        fence.tso
#--- fence_i
        fence.i
#--- pause
        pause
#--- system
        ecall
        ebreak
        scall
        sbreak
        unimp
#--- calls
        call    f
        call    t0, f
        tail    f
        jump    f, t0
f:      ret
#--- insn_r
        .insn   r 0x33, 0, 0, a0, a1, a2
        .insn   r OP, 7, 1, a0, a1, a2
        .insn   r CUSTOM_0, 1, 2, x1, x2, x3
#--- insn_i
        .insn   i 0x13, 0, a0, a1, -5
        .insn   i OP_IMM, 7, a0, a1, 5
        .insn   i 0x3, 2, a0, 8(a1)
        .insn   i JALR, 0, ra, a0, 4
#--- insn_s
        .insn   s 0x23, 2, a0, 8(a1)
        .insn   s STORE, 0, a0, -4(a1)
#--- insn_b
x:      .insn   sb 0x63, 0, a0, a1, x
        .insn   b BRANCH, 5, a0, a1, x
#--- insn_u
        .insn   u 0x37, a0, 0x12345
        .insn   u AUIPC, a0, 1
#--- insn_j
x:      .insn   uj 0x6f, ra, x
        .insn   j JAL, zero, x
#--- insn_r4
        .insn   r4 MADD, 0, 0, a0, a1, a2, a3
        .insn   r NMSUB, 7, 3, a0, a1, a2, a3
#--- insn_word
        .insn   0x00c58533
        .insn   4, 0x00000013
#--- insn_of_an_unknown_format
        .insn   q 0x33, 0, 0, a0, a1, a2
#--- insn_opcode_too_large
        .insn   r 0x133, 0, 0, a0, a1, a2
#--- capitals
        ADD     a0, a1, a2
#--- capital_registers
        add     A0, a1, a2
#--- register_not_there
        add     a0, a1, a8
#--- x32
        add     x32, x0, x0
#--- immediate_too_large
        addi    a0, a1, 2048
#--- immediate_too_small
        addi    a0, a1, -2049
#--- lui_too_large
        lui     a0, 0x100000
#--- lui_negative
        lui     a0, -1
#--- shift_too_large
        slli    a0, a1, 32
#--- too_few_operands
        add     a0, a1
#--- too_many_operands
        add     a0, a1, a2, a3
#--- missing_comma
        add     a0 a1, a2
#--- unknown_mnemonic
        addq    a0, a1, a2
#--- odd_branch
        beq     a0, a1, . + 3
#--- branch_too_far
x:      .space  5000
        .text
        beq     a0, a1, x + 10000
#--- floating_point
        fadd.s  fa0, fa1, fa2
#--- atomic
        amoadd.w a0, a1, (a2)
#--- compressed
        c.nop
#--- rv64
        addiw   a0, a1, 1
#--- lo_as_immediate
        addi    a0, a0, %lo(0x1234)
        add     a0, a0, %lo(0x1234)
        lw      a0, %lo(0x1234)(a1)
        li      a1, %lo(0x1234)
#--- li_of_a_symbol
        .set    k, 0x12345
        li      a0, k
        li      a1, k & 0xfff
        li      a2, -k
#--- li_of_a_complement
        li      a0, ~0
        li      a1, ~0x7ff
        li      a2, ~(1 << 11)
#--- li_at_the_edges
        li      a0, 0x7ff
        li      a0, 0x800
        li      a0, 0xfff
        li      a0, 0x1000
        li      a0, 0x7ffff800
        li      a0, 0x7fffffff
        li      a0, -2049
        li      a0, -4096
#--- la_of_text
        la      a0, f
f:      nop
#--- la_backwards
f:      nop
        la      a0, f
#--- load_with_pair
        lui     t0, %hi(v)
        lb      a0, %lo(v)(t0)
        lhu     a1, %lo(v + 2)(t0)
        sb      a0, %lo(v + 3)(t0)
        .data
v:      .word   5
#--- auipc_of_a_symbol
1:      auipc   t0, %pcrel_hi(v)
        sw      a0, %pcrel_lo(1b)(t0)
        .data
v:      .word   5
#--- two_pairs_of_one_place
1:      auipc   t0, %pcrel_hi(v)
        lw      a0, %pcrel_lo(1b)(t0)
        sw      a0, %pcrel_lo(1b)(t0)
        .data
v:      .word   5
#--- hi_rounds_up
        lui     a0, %hi(0x7ffff800)
        lui     a1, %hi(0xfffff800)
        lui     a2, %hi(0x7ff)
#--- lo_is_signed
        addi    a0, zero, %lo(0x800)
        addi    a0, zero, %lo(0xfff)
        addi    a0, zero, %lo(0x7ff)
#--- long_loop
        li      t0, 10
1:      addi    t0, t0, -1
        bnez    t0, 1b
        ret
#--- leaf_function
        .globl  f
        .type   f, @function
f:      addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        mv      s0, a0
        call    g
        add     a0, a0, s0
        lw      ra, 12(sp)
        lw      s0, 8(sp)
        addi    sp, sp, 16
        ret
        .size   f, . - f
g:      slli    a0, a0, 1
        ret
#--- table_of_jumps
        .text
f:      la      t0, table
        slli    a0, a0, 2
        add     t0, t0, a0
        lw      t0, (t0)
        jr      t0
a:      ret
b:      ret
        .data
table:  .word   a, b
#--- differences_in_a_table
        .text
f:      nop
a:      ret
b:      ret
table:  .word   a - table, b - table
#--- large_stack
        li      t0, -8192
        add     sp, sp, t0
        lui     t1, 2
        add     sp, sp, t1
#--- sub_with_a_constant
        sub     a0, a1, 5
#--- addi_with_a_register
        addi    a0, a1, a2
#--- store_with_a_register_offset
        sw      a0, a1(a2)
#--- load_to_a_number
        lw      5, 0(a1)
#--- branch_to_a_number
        beq     a0, a1, 8
#--- jump_to_a_number
        j       0x10000
#--- call_of_a_number
        call    0x20000
#--- lui_with_a_symbol
        lui     a0, v
        .data
v:      .word   0
#--- ret_with_an_operand
        ret     a0
#--- nop_with_an_operand
        nop     1
#--- fence_of_unknown_letters
        fence   x, y
#--- csr_number_too_large
        csrr    a0, 4096
#--- csr_constant_too_large
        csrwi   0x7c0, 32
