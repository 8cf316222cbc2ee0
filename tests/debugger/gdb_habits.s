# The program that the forms of gdb_habits.toml are typed to.
        .core cp
        .macro twice reg
        add  \reg, \reg, \reg
        add  \reg, \reg, \reg
        .endm
_start: li   a0, 3
        call double
        twice a0
        call deep
        mv   s0, a0
loop:   addi s0, s0, -1
        bnez s0, loop
        li   a7, 93
        ecall
double: slli a0, a0, 1
        ret
deep:   addi sp, sp, -16
        sw   ra, 0(sp)
        call double
        addi t0, a0, 0
        call double
        lw   ra, 0(sp)
        addi sp, sp, 16
        ret
        .data
y:      .word 1, 2, 3, 4
