# plain.s - network.s: weights in their own order.
        .include "scopes.s"
        .equ    SCOPE, PLAIN
        .include "network.s"
