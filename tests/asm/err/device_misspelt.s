# The device that was meant is taken for what follows.
        .device tinny                     #! error 17-22: no device is called 'tinny', there are aim, base, bw_a10, bw_s10, bw_s5, ddr4_dimm, hbm2_pim, large, tiny and any TOML file with settings | did you mean 'tiny'?
        .core   pe, row=1
        .byte   1
