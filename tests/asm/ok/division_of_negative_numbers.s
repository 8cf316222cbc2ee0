# Division goes towards zero, as in C.
        .word   -7 / 2, 7 / -2, -7 % 2, 7 % -2
#! bytes .data fdffffff fdffffff ffffffff 01000000
