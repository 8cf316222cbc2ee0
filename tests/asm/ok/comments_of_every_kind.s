# To the end of the line, or between two marks.
        .byte   1 // one
        .byte   2 # two
        .byte   3 /* three */, 4
        .byte   /* over
                   lines */ 5
/* .byte 6 */
#! bytes .data 01 02 03 04 05
