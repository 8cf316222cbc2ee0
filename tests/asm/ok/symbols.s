# Symbols that are numbers and addresses, set once or again, before and after their use.
        .equ    one, 1
        .set    two, one + 1
three = two + 1
        .equiv  four, three + 1
        .byte   one, two, three, four, later
        .set    turn, 5
        .byte   turn
        .set    turn, turn + 1
        .byte   turn
        .set    turn, turn * 2
        .byte   turn, first
        .equ    later, last - here
        .equ    first, later + 1
here:   .word   alias, turn + late
        .equ    alias, here + 4
last:
        .set    turn, 100
        .equ    late, 1
#! at .data 01020304 08 05 06 0c 09
#! at .data+9 0d000080 0d000000
#! symbol one 0x1 0 notype -
#! symbol later 0x8 0 notype -
#! symbol turn 0x64 0 notype -
#! symbol alias 0x8000000d 4 object .data
