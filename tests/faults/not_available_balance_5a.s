# In the design of Fig. 5a there is nothing to balance, now and later.
#! fault not available: mac with balance: a cluster of design 5a has no load queues to balance
#! core pe\[0\]
        .device "design_5a.toml"
        .core   pe
        .seq    never
          mac   balance                 #! here
        .endseq
        config  ib=0, never
