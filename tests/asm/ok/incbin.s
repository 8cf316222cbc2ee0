# Parts that a file does not have.
        .incbin "include/data.bin"
        .incbin "include/data.bin", 4
        .incbin "include/data.bin", 1, 2
        .incbin "include/data.bin", 6
part:   .incbin "include/data.bin", 0, 0
#! bytes .data 6162 63646566 65666263
