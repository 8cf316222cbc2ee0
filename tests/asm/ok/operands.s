# Operands by position and by name, defaults, numbers written either way.
        .core   cp
        add     rd=a0, rs1=a1, rs2=a2
        add     a0, rs2=a2, rs1=a1
        addi    a0, imm=5, rs1=a1
        lw      a0, imm=4, rs1=sp
        lw      a0, (sp)
        sw      a0, 4(sp)
        lw      a0, 4 + 4 * 2(sp)
        lw      a0, (4 + 4)(sp)
        lw      rd=a0, imm=-4, rs1=fp
        addi    x10, gr11, 0xffffffff
        andi    a0, a0, ~0xf & 0xffffffff
        csrr    a0, cycle
        csrr    a0, 0xc00
        csrr    a0, csr=cycle + 0
        fence
        fence   rw, 0
        jalr    a0
        jalr    4(a0)
        jalr    ra, a0, 4
        li      a0, -1; li a0, 0xffffffff; li a0, 2047; li a0, -2048; li a0, 0x7ff000
        lui     a0, 0xfffff
        .equ    cycle, 5
#! bytes .text.cp 3385c500 3385c500 13855500 03254100 03250100 23 22a100 0325c100 03258100 0325c4ff
#! bytes .text.cp 1385f5ff 137505ff 732500c0 732500c0 73255000 0f00f00f 0f000003
#! bytes .text.cp e7000500 e7004500 e7004500
#! bytes .text.cp 1305f0ff 1305f0ff 1305f07f 13050080 37f57f00 37f5ffff
