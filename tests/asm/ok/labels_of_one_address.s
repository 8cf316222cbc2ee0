# Several labels stand for one address.
a: b:   .word   a
c:
d:      .word   b, c, d - a
#! bytes .data 00000080 00000080 04000080 04000000
