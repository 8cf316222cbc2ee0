# A count may be a distance that is known.
        .byte 1, 2, 3
a:      .byte 4
b:      .rept b - a + 1
        .byte 5
        .endr
#! bytes .data 0102 03040505
