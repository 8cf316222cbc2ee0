#--- sizes
        .data
        .byte   1
        .half   2
        .short  3
        .hword  4
        .2byte  5
        .word   6
        .long   7
        .int    8
        .4byte  9
        .dword  10
        .quad   11
        .8byte  12
#--- lists
        .data
        .byte   1,2 , 3,	4
        .half   1, -1
#--- strings
        .data
        .ascii  "abc"
        .asciz  "def"
        .string "ghi"
#--- several_strings
        .data
        .ascii  "a", "bc"
        .asciz  "d", "ef"
        .string "g", "h"
#--- joined_strings
        .data
        .ascii  "a" "b" "c"
        .asciz  "a" "b"
        .string "x" "y", "z"
#--- escapes
        .data
        .ascii  "\b\f\n\r\t\\\""
        .ascii  "\0\7\12\101\x41\x4a"
#--- octal_escape_of_three_digits
        .data
        .ascii  "\1012"
#--- long_hexadecimal_escape
        .data
        .ascii  "\x141"
#--- empty_strings
        .data
        .ascii  ""
        .asciz  ""
        .byte   1
#--- signs_in_strings
        .data
        .ascii  "# no comment; // none /* either */"
#--- bytes_beyond_ascii
        .data
        .ascii  "äöü€"
#--- zero_and_skip
        .data
        .zero   3
        .skip   2
        .space  2
        .byte   1
#--- fill_of_space
        .data
        .space  3, 0xff
        .skip   2, 1
#--- fill
        .data
        .fill   3
        .fill   2, 2
        .fill   2, 2, 0x1234
        .fill   2, 4, 0x12345678
        .fill   1, 8, 0x12345678
#--- fill_of_nothing
        .data
        .fill   0, 4, 1
        .byte   1
#--- floats
        .data
        .float  1.0, -2.5, 0.1, 1e10, 1e-10
        .single 3.25
        .double 1.0, -2.5, 0.1, 1e300
#--- floats_without_a_point
        .data
        .float  1, -3
        .double 7
#--- floats_that_are_special
        .data
        .float  inf, -inf, nan
        .double inf
#--- float_half_to_even
        .data
        .float  16777219, 0.1
#--- float16
        .data
        .float16 1.0, -2.5, 65504, 0.1
#--- uleb
        .data
        .uleb128 0
        .uleb128 1
        .uleb128 127
        .uleb128 128
        .uleb128 255
        .uleb128 16384
        .uleb128 0xffffffff
#--- sleb
        .data
        .sleb128 0
        .sleb128 1
        .sleb128 -1
        .sleb128 63
        .sleb128 64
        .sleb128 -64
        .sleb128 -65
        .sleb128 127
        .sleb128 128
        .sleb128 -128
        .sleb128 -129
        .sleb128 0x7fffffff
#--- uleb_of_a_difference
        .data
a:      .word   1
b:      .uleb128 b - a
#--- number_in_a_label_list
        .data
t:      .word   f, g, f + 4
        .text
f:      nop
g:      nop
#--- half_of_a_difference
        .data
a:      .space  300
b:      .half   b - a
        .byte   (b - a) / 2
#--- dword_of_an_address
        .data
a:      .dword  1
#--- string_without_quotes
        .ascii  abc
#--- word_without_operands
        .data
        .word
        .byte   1
#--- bss
        .bss
x:      .space  16
        .zero   4
        .text
        lui     a0, 1
#--- data_in_bss
        .bss
        .word   1
#--- zero_in_bss
        .bss
        .word   0
#--- comm
        .comm   c, 10, 4
        .comm   d, 4
        nop
#--- local_comm
        .local  c
        .comm   c, 8, 8
        nop
#--- lcomm
        .lcomm  c, 6
        .lcomm  d, 4
        nop
#--- org
        .data
        .byte   1
        .org    8
        .byte   2
        .org    12, 0xff
        .byte   3
#--- org_from_here
        .data
        .byte   1
        .org    . + 3
        .byte   2
#--- org_at_a_label
        .data
x:      .byte   1
        .org    x + 6
        .byte   2
#--- org_backwards
        .data
        .space  8
        .org    4
#--- incbin
        .data
        .incbin "bytes.bin"
#--- incbin_part
        .data
        .incbin "bytes.bin", 2, 3
#--- incbin_missing
        .incbin "nothing.bin"
#--- float_in_a_tie
        .data
        .float  16777217
#--- table_of_strings
        .section .rodata
s0:     .string "zero"
s1:     .string "one"
        .data
        .byte   s1 - s0
#--- addresses_of_text
        .data
        .word   f, g, h
        .text
f:      nop
g:      nop
h:      nop
#--- bytes_of_a_difference
        .text
a:      nop
b:      nop
        .byte   b - a, 2 * (b - a)
        .half   b - a
#--- structure
        .data
        .globl  s
        .align  2
        .type   s, @object
        .size   s, 12
s:      .byte   1
        .zero   1
        .half   2
        .word   3
        .word   s
#--- string_with_zero
        .data
        .ascii  "a\0b"
        .asciz  "c\000d"
#--- string_of_utf8_escapes
        .data
        .string "\303\274"
#--- long_list
        .data
        .byte   0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
#--- byte_of_a_character_sum
        .data
        .byte   'a' + 1, 'z' - 'a'
#--- negative_space
        .data
        .space  -1
        .byte   1
#--- skip_of_a_difference
        .data
a:      .word   1
b:      .skip   b - a
        .byte   2
#--- fill_by_symbol
        .data
        .set    n, 3
        .fill   n, 1, n + 1
#--- unknown_escape
        .data
        .ascii  "\q"
#--- text_of_data_only
        .word   1, 2, 3
#--- section_of_bytes
        .section .data.table,"aw"
        .byte   1
        .text
        nop
        .section .data.table
        .byte   2
#--- align_between_sections
        .data
        .byte   1
        .section .data.x,"aw"
        .align  2
        .word   2
