# Devices.
        .device tinny                     #! error 17-22: no device is called 'tinny', there are aim, base, bw_a10, bw_s10, bw_s5, ddr4_dimm, hbm2_pim, large, tiny and any TOML file with settings | did you mean 'tiny'?
        .device nothing.toml              #! error 17-29: nothing.toml: cannot be read: No such file or directory
        .device "nothing.toml"            #! error 17-31: there is no file 'nothing.toml' below the source's folder or a -I folder
        .device tiny
        .device large                     #! error 17-22: the device is tiny already
        .core   pe
        .device base                      #! error 17-21: .device comes too late | write it before everything that depends on the device
