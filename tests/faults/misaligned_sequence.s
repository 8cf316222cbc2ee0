# A config names a sequence at an odd offset: the assembler refuses it, raw bytes do not.
#! fault misaligned access: a sequence at offset 0x7, which is no multiple of 2
#! core pe\[0\]
        .device tiny
        .core   pe
        .list   raw
        .byte   0, 1                    #! here
        .half   0
        .word   1
        .byte   3, 0, 0, 0              # a segment: sequence, broadcast
        .word   7, 18                   # offset, length
        .endlist
