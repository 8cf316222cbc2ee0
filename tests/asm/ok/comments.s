# Comments of all kinds, and what looks like one and is none.
/* at the start */ .byte 1 # to the end
        .byte 2 // to the end
        .byte 3, /* inside */ 4
        .byte 5, /* over
                    lines */ 6; .byte 7 /* and
        again */; .byte 8
        .ascii "# // /* ; */"   ; .byte ';', '#', '/', '"' # '
        .byte '\'', '\\', '\n', '\x41', '\101', 'a;.byte 9
        .byte 8 / 4 /* not // a comment */ / 2
;;; ;
#! at .data 0102030405060708 23202f2f202f2a203b202a2f 3b232f22 275c0a414161 09 01
#! section .data 0x80000000 32
