"""The format of loads: the numbers in the load queues that each name a weight and an activation.

A load is weight place << 16 | input index. `FROM_NEIGHBOUR` marks a load that the right neighbour
gave to this PE; weight and activation are then in the memories of the neighbour.
"""

from __future__ import annotations

PLACE_SHIFT = 16  # of the weight's place in the weight queue
INDEX_MASK = 0xFFFF
FROM_NEIGHBOUR = 1 << 32
