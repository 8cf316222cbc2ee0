# Settings that cannot go together.
        .device "fim_banks.toml"
        .input  x, int8, 4, at=island0    #! error 32-39: the device has no memory 'island0' for tensors | there are netin, message, netout, unit0, unit1, ..., unit3
        .core   fim, island=0             #! error 9-30: fim.ranks (2) x fim.bank_groups (4) x fim.group_banks (4) are 32 banks, an island has at most 16
        .block  banks=0
        end
