# Short forms without a destination.
        .core   cp
        csrw    cycle, a0
        csrs    cycle, a1
        csrc    cycle, a2
        csrwi   cycle, 3
        csrsi   cycle, 4
        csrci   cycle, 5
#! bytes .text.cp 731005c0 73a005c0 733006c0 73d001c0
#! bytes .text.cp 736002c0 73f002c0
