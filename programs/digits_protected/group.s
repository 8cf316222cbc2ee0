# group.s - network.s: an order for each two nodes.
        .include "scopes.s"
        .equ    SCOPE, GROUP
        .equ    ORDERS, (64 + 64 + 10) / 2
        .include "network.s"
