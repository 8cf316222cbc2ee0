"""Divides a profile by the layers of a compiled network."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from macaw.asm.network import ProgramNetwork
from macaw.profiling.model import Interval, LayerSpan, Slice, Track


def layer_spans(
    network: ProgramNetwork | None, begins: Mapping[int, int], tracks: Sequence[Track]
) -> tuple[LayerSpan, ...]:
    """Return the layers of a network that a run has executed from begin to end.

    `begins` has the cycle in which each layer began, by number of the layer from 0 on. For n
    layers, it has under the number n the cycle in which the last layer ended.
    """
    spans = []
    for number, layer in enumerate(network.layers if network is not None else ()):
        if number not in begins or number + 1 not in begins:
            continue
        begin, end = begins[number], begins[number + 1]
        busy = {x.row: _inside(x.busy, begin, end) for x in tracks if x.core == x.row}
        spans.append(
            LayerSpan(
                layer.name, layer.operator, layer.core, begin, end, layer.predicted, layer.bound,
                busy,
            )
        )  # fmt: skip
    return tuple(spans)


def _inside(intervals: Sequence[Interval], begin: int, end: int) -> int:
    """Return how many cycles of `intervals` are from `begin` to `end`."""
    return sum(max(0, min(high, end) - max(low, begin)) for low, high in intervals)


def with_layers(tracks: Sequence[Track], spans: Sequence[LayerSpan]) -> tuple[Track, ...]:
    """Return the tracks, in which each slice has the name of the layer in which it began.

    `spans` are the layers in the order of execution.
    """
    if not spans:
        return tuple(tracks)
    starts = [span.begin for span in spans]

    def named(item: Slice) -> Slice:
        place = bisect_right(starts, item.begin) - 1
        inside = place >= 0 and item.begin < spans[place].end
        return replace(item, layer=spans[place].name) if inside else item

    return tuple(replace(item, slices=tuple(map(named, item.slices))) for item in tracks)
