# Control and status registers by name, and the short forms.
        .core   cp
        csrr    a0, cycle
        csrr    a1, time
        csrr    a2, instret
        csrr    a3, cycleh
        csrr    a4, timeh
        csrr    a5, instreth
        csrr    a6, mhartid
#! bytes .text.cp 732500c0 f32510c0 732620c0 f32600c8
#! bytes .text.cp 732710c8 f32720c8 732840f1
