# Numbers of every size, by every name, at the ends of their ranges.
        .byte   -128, 255, 0, 'A'
        .half   -32768, 65535
        .short  1
        .2byte  2
        .word   -2147483648, 4294967295
        .long   1
        .4byte  2
        .dword  -9223372036854775808, 18446744073709551615
        .quad   1
        .8byte  2
        .byte
        .word
#! bytes .data 80ff0041 0080ffff 0100 0200 00000080 ffffffff 01000000 02000000
#! bytes .data 0000000000000080 ffffffffffffffff 0100000000000000 0200000000000000
