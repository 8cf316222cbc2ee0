# node.s - network.s: an order for each node.
        .include "scopes.s"
        .equ    SCOPE, NODE
        .equ    ORDERS, 64 + 64 + 10
        .include "network.s"
