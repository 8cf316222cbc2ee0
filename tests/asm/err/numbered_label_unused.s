# Numbered labels and .L names that nobody uses; other labels may have their purpose.
        .core   cp
1:      nop                               #! warning 1-2: label '1' is not used
.Lx:    nop                               #! warning 1-4: label '.Lx' is not used
plain:  nop
        addi                              #! error 9-13: addi needs the operand rd | write addi rd, rs1, imm
