# hello.s - a program for the command processor alone, in RISC-V assembly
        .core   cp
        .global _start
_start: li      a7, 64                  # write
        li      a0, 1                   # to standard output
        la      a1, text
        li      a2, sizeof(text)
        ecall
        li      a7, 93                  # exit
        li      a0, 0
        ecall

        .section .data.cp
text:   .ascii  "Hello from the command processor.\n"
