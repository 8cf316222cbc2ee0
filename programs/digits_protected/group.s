# group.s - network.inc: an order for each two nodes.
        .include "scopes.inc"
        .equ    SCOPE, GROUP
        .equ    ORDERS, (64 + 64 + 10) / 2
        .include "network.inc"
