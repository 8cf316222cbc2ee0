# A label stands for the whole array, of which parts have an address.
w:      .npy    "weights.npy"
        .data
        .word   w, w[1], w[2, 3], sizeof(w), sizeof(w[4:8])
#! symbol w 0x80000000 1024 object .data
#! at .data+0x400 00000080 40000080 83000080 00040000 00010000
