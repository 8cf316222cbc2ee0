# Text and its escapes.
        .ascii  "abc", "", "d"
        .asciz  "e", ""
        .string "f"
        .ascii  "\b\f\n\r\t\v\\\"\'", "\0\12\101", "\x41\x0a", "é"
#! bytes .data 61626364 6500 00 6600 080c0a0d090b5c2227 000a41 410a c3a9
