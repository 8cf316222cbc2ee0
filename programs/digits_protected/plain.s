# plain.s - network.inc: weights in their own order.
        .include "scopes.inc"
        .equ    SCOPE, PLAIN
        .include "network.inc"
