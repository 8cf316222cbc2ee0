# A file may be read again.
        .set n, 1
        .include "include/count.inc"
        .include "include/count.inc"; .byte 0xff
#! bytes .data 0102ff
