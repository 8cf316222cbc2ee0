# Names of files are those of the source's folder on, in included files too.
        .include "include/outer.inc"
        .byte 2
#! bytes .data 0102
