# Decimal, hexadecimal, binary, octal.
        .word   10, 0x1F, 0Xf, 0b101, 0B11, 017, 0
#! bytes .data 0a000000 1f000000 0f000000 05000000
#! bytes .data 03000000 0f000000 00000000
