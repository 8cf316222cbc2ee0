# sizeof: of a label up to the next one, of data that know their size, of parts of them.
        .device tiny
        .input  x, int16, 4, 8
        .core   cp
code:   li      a0, sizeof(x)
        li      a1, sizeof(x[1])
        li      a2, sizeof(x[1:3])
        li      a3, sizeof(x[0, 2:5])
        li      a4, sizeof(a)
        .data
a:      .word   1, 2, 3
b:      .byte   sizeof(b), sizeof(a), sizeof(w), sizeof(w[1]), sizeof(m), sizeof(m[2])
w:      .sparse "weights.npy"[0:10, 0:8]
m:      .npy    "weights.npy"[0:3, 0:4]
        .space  sizeof(m[1])
#! bytes .text.cp 13050004 93050001 13060002 93066000 37070000 1307c700
#! symbol m 0x80000071 12 object .data
#! symbol w 0x80000012 95 object .data
#! at .data+12 060c5f1c0c04
