# C's precedence: products before sums, sums before shifts, shifts before bits. (GNU as has bits first.)
        .word   1 + 2 * 3, (1 + 2) * 3, 1 | 2 + 4, 6 & 3 + 8
        .word   1 << 2 + 1, 10 - 2 - 3, 100 / 10 / 5, 1 | 6 & 3 ^ 1
#! bytes .data 07000000 09000000 07000000 02000000
#! bytes .data 08000000 05000000 02000000 03000000
