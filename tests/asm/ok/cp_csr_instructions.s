# Zicsr by number.
        .core   cp
        csrrw   a0, 0xc00, a1
        csrrs   a0, 0xc01, zero
        csrrc   a0, 0xc02, a1
        csrrwi  a0, 0xc80, 31
        csrrsi  a0, 0xc81, 0
        csrrci  a0, 0xc82, 5
#! bytes .text.cp 739505c0 732510c0 73b525c0 73d50fc8
#! bytes .text.cp 736510c8 73f522c8
