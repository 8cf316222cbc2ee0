# .bss holds nothing but zeros.
        .bss
        .byte   0, 1                      #! error 9-21: .bss holds zeros, no data
        .ascii  "x"                       #! error 9-20: .bss holds zeros, no data
        .space  2, 0
        .space  2, 1                      #! error 9-21: .bss holds zeros, no data
