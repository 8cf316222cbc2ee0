"""The format of loads, the entries of load queues. A load names a weight and an activation.

A load is weight place << 16 | input index. The bit `FROM_NEIGHBOUR` marks a load that the right
neighbour gave to this PE; weight and activation are then in the memories of that neighbour.
"""

from __future__ import annotations

PLACE_SHIFT = 16  # of the weight's place in the weight queue
INDEX_MASK = 0xFFFF
FROM_NEIGHBOUR = 1 << 32
