        .data
        .incbin "include/data.bin"
        .byte 0xff
        .incbin "include/data.bin", 6
        .byte 0xff
        .incbin "include/data.bin", 6, 3
        .byte 0xff
        .incbin "include/data.bin", 11
        .byte 0xff
        .incbin "include/data.bin", 2 * 2, 1
