# A word that no core has.
        .core   cp
        frobnicate a0, a1                 #! error 9-19: cp has no instruction 'frobnicate' | 'macaw isa cp' lists what it has
