# scopes.s - who shares an order, and so how often orders are loaded.
        .equ    PLAIN, 0                # weights as they are: one order in the program, the identity
        .equ    NET, 1                  # once
        .equ    LAYER, 2                # for every layer
        .equ    GROUP, 3                # for every two nodes
        .equ    NODE, 4                 # for every node
