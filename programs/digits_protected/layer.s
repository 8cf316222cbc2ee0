# layer.s - network.inc: an order for each layer.
        .include "scopes.inc"
        .equ    SCOPE, LAYER
        .equ    ORDERS, 3
        .include "network.inc"
