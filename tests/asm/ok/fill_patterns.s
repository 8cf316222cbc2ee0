# .fill repeats a number of up to eight bytes.
        .fill   3
        .fill   2, 2, 0x1234
        .fill   1, 4, -1
        .fill   0, 8, 5
        .fill   2, 1
#! bytes .data 00 00003412 3412ffff ffff0000
