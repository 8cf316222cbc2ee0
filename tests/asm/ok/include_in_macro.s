# A macro that reads a file.
        .macro m
        .include "include/leave.inc"    # its .exitm leaves the file
        .byte 3
        .endm
        m
#! bytes .data 0103
