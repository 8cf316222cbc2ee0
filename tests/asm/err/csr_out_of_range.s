# 12 bits, and names.
        .core   cp
        csrr    a0, 4096                  #! error 21-25: csr: 4096 is out of range, 0 to 4095
        csrr    a0, cycles                #! error 21-27: no CSR is called 'cycles' | did you mean 'cycle'?
        csrwi   cycle, 32                 #! error 24-26: uimm: 32 is out of range, 0 to 31
