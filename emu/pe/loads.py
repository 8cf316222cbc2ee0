"""The format of loads, the entries of load queues. A load refers to a weight and an activation.

A load is (index in the weight queue) << 16 | (input index). The bit `FROM_NEIGHBOUR` marks a load
that the right neighbour gave to this PE; then the weight and the activation are in the memories of
that neighbour.
"""

from __future__ import annotations

PLACE_SHIFT = 16  # shifts the weight's index in the weight queue
INDEX_MASK = 0xFFFF
FROM_NEIGHBOUR = 1 << 32
