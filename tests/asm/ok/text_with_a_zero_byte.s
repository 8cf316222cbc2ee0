# .asciz and .string end each string with a zero byte.
        .asciz  "ab", "c"
        .string "d"
        .asciz  ""
#! bytes .data 61620063 00640000
