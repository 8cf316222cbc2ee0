"""Checks that a network's layers on fim islands fit the memories that they share.

The programs of all layers are in the islands' memories at once. Copies of each layer go through a
separate region of cp's local memory.
"""

from __future__ import annotations

from macaw.isa.config import Configuration
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.program import CODE, scratch_bytes, words_of_islands
from macaw.lowering.net.network import IslandLayer, Network


def check_room(network: Network, config: Configuration) -> None:
    """Raise `LowerError` if the layers on islands do not fit the memories that they share.

    The message names the first layer for which there is no room.
    """
    layers = [layer for layer in network.layers if isinstance(layer, IslandLayer)]
    words = [words_of_islands(layer.product.plan) for layer in layers]
    for island in sorted({island for row in words for island in row}):
        _check(
            layers,
            [row.get(island, 0) for row in words],
            int(config["fim.instructions"]),
            f"have {{:,}} words on island {island}, fim.instructions is {{:,}}",
        )
    _check(
        layers,
        [scratch_bytes(layer.product.plan, config) for layer in layers],
        int(config["mem.local_bytes"]) - CODE,
        "copy through {:,} bytes of cp's local memory; beside cp's code, there is room for {:,}"
        " (mem.local_bytes)",
    )


def _check(layers: list[IslandLayer], sizes: list[int], most: int, text: str) -> None:
    """Raise `LowerError` if the sizes of the layers add up to more than `most`.

    `text` is the part of the message that says what the layers need. It is a format string with two
    places: for the sum of all sizes, and for `most`.
    """
    used = 0
    for layer, size in zip(layers, sizes, strict=True):
        used += size
        if used > most:
            needs = text.format(sum(sizes), most)
            raise LowerError(f"layer {layer.name} does not fit: the layers on islands {needs}")
