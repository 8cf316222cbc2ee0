# Fields of cp: one less and one more than the range.
        .core cp
        addi    a0, a0, -2049             #! error 25-30: imm: -2049 is out of range, -2048 to 2047
        addi    a0, a0, 2048              #! error 25-29: imm: 2048 is out of range, -2048 to 2047
        slli    a0, a0, 32                #! error 25-27: shamt: 32 is out of range, 0 to 31
        slli    a0, a0, -1                #! error 25-27: shamt: -1 is out of range, 0 to 31
        lui     a0, 0x100000              #! error 21-29: imm: 1048576 is out of range, 0 to 1048575
        lui     a0, -1                    #! error 21-23: imm: -1 is out of range, 0 to 1048575
        lw      a0, 2048(sp)              #! error 21-25: imm: 2048 is out of range, -2048 to 2047
        sw      a0, -2049(sp)             #! error 21-26: imm: -2049 is out of range, -2048 to 2047
        csrrwi  a0, cycle, 32             #! error 28-30: uimm: 32 is out of range, 0 to 31
        csrr    a0, 4096                  #! error 21-25: csr: 4096 is out of range, 0 to 4095
        li      a0, 0x100000000           #! error 21-32: number: 4294967296 is out of range, -2147483648 to 4294967295
        li      a0, -0x80000001           #! error 21-32: number: -2147483649 is out of range, -2147483648 to 4294967295
        trace_begin 32                    #! error 21-23: g: 32 is out of range, 0 to 31
        fence   rwx, rw                   #! error 17-20: pred: 'rwx' is not letters of iorw
        jal     ra, . + 1                 #! error 21-26: target: the distance 1 is not a multiple of 2
        jal     ra, . + 0x100000          #! error 21-33: target: the distance 1048576 is out of range, -1048576 to 1048574
        beq     a0, a1, . - 4098          #! error 25-33: target: the distance -4098 is out of range, -4096 to 4094
        beq     a0, a1, far               #! error 25-28: target: the distance 4100 is out of range, -4096 to 4094
        .space  4096
far:
