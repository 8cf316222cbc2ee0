# layer.s - network.s: an order for each layer.
        .include "scopes.s"
        .equ    SCOPE, LAYER
        .equ    ORDERS, 3
        .include "network.s"
