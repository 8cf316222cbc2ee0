# Data directives.
        .data
        .byte   0, 255, -128, 'a', '\n', 'b, 1 + 2
        .half   0, 65535, -32768
        .short  1
        .2byte  2, 3
        .word   0, 4294967295, -2147483648
        .long   5
        .4byte  6
        .dword  0, -1, 0x123456789abcdef0, 18446744073709551615
        .quad   7
        .8byte  8
        .ascii  "abc", "def\n\t\\\"", "\101\x42", ""
        .asciz  "ghi", ""
        .string "jkl"
        .space  3
        .space  2, 0x55
        .zero   4
        .skip   2, 1
        .fill   3
        .fill   2, 2, 0x1234
        .fill   2, 8, -1
        .fill   1, 3, 0x123456
        .fill   1, 8, 0x1122334455667788
        .fill   2, 3, 0x11223344
        .fill   1, 3, 0x1122334455667788
        .fill   1, 5, -2
        .fill   1, 6, -0x112233445566
        .fill   1, 1, 300
        .fill   1, 2, -0x8001
        .fill   4, 1, 7
        .byte
        .byte   1; .byte 2; .half 3
        /* a comment
           over lines */ .byte 4 # to the end
        .byte   5 # and this
        .ascii  "# no // comment /* */ ;"
