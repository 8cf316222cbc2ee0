# Values that do not fit their directive, one less and one more than the range.
        .byte   -129                      #! error 17-21: -129 is out of range, -128 to 255
        .byte   256                       #! error 17-20: 256 is out of range, -128 to 255
        .half   -32769                    #! error 17-23: -32769 is out of range, -32768 to 65535
        .half   65536                     #! error 17-22: 65536 is out of range, -32768 to 65535
        .word   -2147483649               #! error 17-28: -2147483649 is out of range, -2147483648 to 4294967295
        .word   4294967296                #! error 17-27: 4294967296 is out of range, -2147483648 to 4294967295
        .space  -1                        #! error 17-19: size: -1 is out of range, 0 to 1073741824
        .space  5, 256                    #! error 20-23: fill: 256 is out of range, -128 to 255
        .space  2000000000                #! error 17-27: size: 2000000000 is out of range, 0 to 1073741824
        .fill   -1                        #! error 17-19: repeat: -1 is out of range, 0 to 1073741824
        .fill   1, 9                      #! error 20-21: size: 9 is out of range, 0 to 8
        .fill   1, 1, 256                 #! warning 23-26: of 0x100 the low 8 bits are kept, 0x0
        .fill   1, 8, 0x100000000         #! warning 23-34: of 0x100000000 the low 32 bits are kept, 0x0 | as in GNU as; .dword takes 64 bits
        .fill   1, 3, 0x11223344          #! warning 23-33: of 0x11223344 the low 24 bits are kept, 0x223344
        .fill   1, 2, -32769              #! warning 23-29: of -0x8001 the low 16 bits are kept, 0x7fff
        .fill   1, 0, 0x100000000
        .fill   1, 8, -1
        .fill   1, 3, 0xffffff
        .fill   1000000000, 8, 1          #! error 17-27: 1000000000 times 8 bytes are out of range, at most 1073741824
        .align  17                        #! error 17-19: exponent of the alignment: 17 is out of range, 0 to 16
        .align  -1                        #! error 17-19: exponent of the alignment: -1 is out of range, 0 to 16
        .balign 3                         #! error 17-18: an alignment is a power of two, not 3
        .balign 131072                    #! error 17-23: alignment in bytes: 131072 is out of range, 0 to 65536
        .balign 4, 300                    #! error 20-23: fill: 300 is out of range, -128 to 255
        .bss
        .byte   1                         #! error 9-18: .bss holds zeros, no data
        .space  1
        .balign 8, 0xff                   #! error 9-24: .bss holds zeros, no data
