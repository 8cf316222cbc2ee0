# Macros from a file.
        .include "include/macros.inc"
        .core cp
        clear a0, a1
#! bytes .text.cp 13050000 93050000
