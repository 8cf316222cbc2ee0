        .data
        .byte 1
        .include "include/bytes.inc"
        .byte 2; .include "include/bytes.inc"; .byte 3
        use 4
