# node.s - network.inc: an order for each node.
        .include "scopes.inc"
        .equ    SCOPE, NODE
        .equ    ORDERS, 64 + 64 + 10
        .include "network.inc"
