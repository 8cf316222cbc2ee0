# net.s - network.inc: one order for all nodes.
        .include "scopes.inc"
        .equ    SCOPE, NET
        .equ    ORDERS, 1
        .include "network.inc"
