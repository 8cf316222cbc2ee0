# A branch reaches 4096 bytes back and 4094 ahead.
        .core   cp
near:   nop
        .space  4092
        beq     a0, a1, near
        beq     a0, a1, near              #! error 25-29: target: the distance -4100 is out of range, -4096 to 4094
        bne     a0, a1, ahead             #! error 25-30: target: the distance 4096 is out of range, -4096 to 4094
        .space  4092
ahead:  nop
