# Statements behind one another.
        .byte 1; .byte 2 ;.byte 3;; .byte 4
a: .byte 5; b: c: .byte 6
        .byte b - a
#! bytes .data 010203 04050601
