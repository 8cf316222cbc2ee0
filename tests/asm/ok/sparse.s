# Sparse matrices: rounds of 2 clusters of 4 PEs, or of fewer; parts of the file; labels.
        .device tiny
a:      .sparse "sparse.npy"
b:      .sparse "sparse.npy"[0:3], clusters=1, pes=2
c:      .sparse "sparse.npy"[1:2, 2:4]
        .word   a[0], a[1], b[0], b[1], sizeof(a[0]), sizeof(a[1]), sizeof(b[1])
# The matrix is 9 x 4: rows 1 0 -2 0; 0 0 3 4; empty; then row r holds r at 0.
#! bytes .data 0200 0000 01 0200 fe  0200 0200 03 0300 04  0000  0100 0000 03 0100 0000 04 0100 0000 05 0100 0000 06 0100 0000 07
#! bytes .data 0100 0000 08
#! bytes .data 0200 0000 01 0200 fe  0200 0200 03 0300 04  0000
#! bytes .data 0200 0000 03 0100 04
#! bytes .data 00000080 2b000080 30000080 40000080 2b000000 05000000 02000000
