"""A cache of the steps of iterations: most tiles of a layer have the same steps for other data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

from macaw.emu.pe.expansion import Expansion
from macaw.emu.pe.instruction_buffers import InstructionBuffer, Pairs
from macaw.emu.pe.state import Op, Out, Segment, Shape

_MOST = 4096  # the greatest number of iterations in the cache


@lru_cache(maxsize=8)
def expansion_cache(shape: Shape) -> ExpansionCache:
    """Return the cache for rows of this shape. `shape.row` must be 0: all rows use one cache."""
    return ExpansionCache(shape)


class ExpansionCache:
    """A cache of the steps of iterations; the key has everything on which the steps depend.

    `shape` has the dimensions of the rows.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        # The steps, as if they took segments from number 0 on, and how many segments they take.
        self._known: dict[Hashable, tuple[list[Op], int]] = {}

    def expand(
        self,
        buffer: InstructionBuffer,
        operands: Pairs,
        flags: tuple[bool, bool],
        segments: Sequence[Segment],
        out: Out,
        clusters: int,
        address: int,
        *,
        next_segment: int,
        iteration: int,
        last: bool,
    ) -> tuple[list[Op], int]:
        """Return the steps of an iteration, and the number of the first segment that no step takes.

        The arguments and the `Fault`s are the same as for `Expansion`.
        """
        # An ld takes at most two segments. Whether another segment is left decides about a fault.
        near = segments[next_segment : next_segment + 2 * len(buffer.words) + 1]
        key = (
            buffer,
            tuple((first, second) for first, second in operands),
            flags,
            tuple(tuple({**segment, "offset": 0}.values()) for segment in near),
            out["count"],
            clusters,
            iteration == 0,
            last,
        )
        if key not in self._known:
            expansion = Expansion(
                self.shape,
                buffer,
                operands,
                flags,
                segments,
                out,
                clusters,
                address,
                next_segment=next_segment,
                iteration=iteration,
                last=last,
            )
            if len(self._known) >= _MOST:
                self._known.clear()
            ops = [_moved(op, -next_segment, 0) for op in expansion.ops]
            self._known[key] = ops, expansion.next_segment - next_segment
        known, taken = self._known[key]
        return [_moved(op, next_segment, iteration) for op in known], next_segment + taken


def _moved(op: Op, segments: int, iteration: int) -> Op:
    """Return a copy of step `op` for iteration number `iteration`, with other segments.

    The segment numbers of the copy are those of `op` plus `segments`.
    """
    op = op.copy()
    op["segments"] = [number + segments for number in op["segments"]]
    op["beats"], op["iteration"] = [], iteration
    return op
