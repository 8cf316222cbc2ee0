# A file's bytes in a row's image.
        .device tiny
        .core pe, row=0
w:      .incbin "include/data.bin", 2, 4
        .list nothing
        .endlist
#! bytes .pe.0 20000000 63646566
