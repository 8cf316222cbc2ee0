# Data directives of GNU as beside the usual ones.
        .data
start:
        .hword  1
        .int    2
        .single 1.5
        .octa   0x0102030405060708090a0b0c0d0e0f10, -1, 3 + 4
        .uleb128 0, 127, 128, 624485, -1
        .sleb128 0, 63, 64, -1, -64, -65, -123456
        .ascii  "a" "b", "c"
        .asciz  "d" "e"
        .org    0x60, 0xaa
        .byte   1
        .org    start + 0x64
        .byte   2
        .align  3,,2
        .p2align 2,,3
        .byte   3
        .p2align 2,0x11
#! bytes .data 01000200 00000000 c03f100f 0e0d0c0b 0a090807 06050403 0201ffff ffffffff
#! bytes .data ffffffff ffffffff ffff0700 00000000 00000000 00000000 0000007f 8001e58e
#! bytes .data 26ffffff ffffffff ffff0100 3fc0007f 40bf7fc0 bb786162 63646500 aaaaaaaa
#! bytes .data 01000000 02000000 03111111
