# Room, zero or filled.
        .space  3
        .skip   2, 0xff
        .space  0
        .zero   4
        .byte   1
#! bytes .data 0000 00ffff00 00000001
