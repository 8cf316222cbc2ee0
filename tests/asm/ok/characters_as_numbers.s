# A character is its code.
        .byte   'a', 'Z', '0', ' ', '\n', '\\', '\''
        .word   'a' + 1
#! bytes .data 615a30 200a5c27 62000000
