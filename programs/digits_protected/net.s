# net.s - network.s: one order for all nodes.
        .include "scopes.s"
        .equ    SCOPE, NET
        .equ    ORDERS, 1
        .include "network.s"
