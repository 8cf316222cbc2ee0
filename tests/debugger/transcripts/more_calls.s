# more_calls.s - calls.s with another number: functions, a loop that stores six numbers, a transfer, a line of text
        .device tiny
        .output y, int16, 2, 3
        .output copied, int16, 2, 3

        .core   cp
_start: li      a0, 3
        call    double
        call    deep
        la      s3, y
        li      s0, 6
loop:   sh      a0, 0(s3)
        addi    a0, a0, 6
        addi    s3, s3, 2
        addi    s0, s0, -1
        bnez    s0, loop
        la      a0, copy
        dma.copy zero, a0
        dma.wait zero
        li      a7, 64                  # write
        li      a0, 1
        la      a1, text
        li      a2, sizeof(text)
        ecall
        li      a7, 93
        li      a0, 0
        ecall

double: slli    a0, a0, 1
        ret
deep:   addi    sp, sp, -16
        sw      ra, 0(sp)
        call    double
        lw      ra, 0(sp)
        addi    sp, sp, 16
        ret

        .section .data.cp
text:   .ascii  "six numbers\n"
        .balign 4
copy:   .word   copied, y, 12, 1, 0, 0
        .data
halves: .half   0x3c00, 0xc000, 0x7bff, 0, 0x3800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
