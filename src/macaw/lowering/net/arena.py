"""Places a network's tensors in an arena, in which tensors of different times share bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa.lazy_dataclass import dataclass

ALIGN = 64  # bytes; each tensor's address is a multiple


@dataclass(frozen=True)
class Lifetime:
    """A tensor's size in bytes, and the first and the last step in which the tensor is needed."""

    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Return whether some step needs both tensors."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Arena:
    """The offsets of tensors in bytes, by name, and the size of the arena in bytes.

    All offsets and the size are multiples of `ALIGN`. The bytes from the end of a tensor to the
    next multiple are unused.
    """

    offsets: dict[str, int]
    size: int


def lifetimes(
    sizes: Mapping[str, int], steps: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> dict[str, Lifetime]:
    """Return the lifetimes of tensors.

    `sizes` has the sizes in bytes of the tensors that need a place. `steps` has, in the order of
    execution, the names that each step reads and the names that it writes. A tensor is needed from
    the first step that writes it to the last step that reads it. If no step writes it, it is needed
    from step 0; if no step reads it, until the last step.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, (reads, writes) in enumerate(steps):
        for name in writes:
            first.setdefault(name, number)
        for name in reads:
            last[name] = number
    end = len(steps) - 1
    return {
        name: Lifetime(size, first.get(name, 0), last.get(name, end))
        for name, size in sizes.items()
    }


def place(items: Mapping[str, Lifetime]) -> Arena:
    """Return an arena with places for tensors with the given lifetimes.

    Two tensors share no byte if some step needs both. The tensors get their places in order of
    size, the largest first. Each gets the lowest free place.
    """
    offsets: dict[str, int] = {}
    size = 0
    for name in sorted(items, key=lambda name: (-items[name].size, items[name].first, name)):
        taken = sorted(
            (offsets[other], offsets[other] + items[other].size)
            for other in offsets
            if items[other].overlaps(items[name])
        )
        offset = 0
        for start, end in taken:
            if start < offset + items[name].size:
                offset = max(offset, -(-end // ALIGN) * ALIGN)
        offsets[name] = offset
        size = max(size, offset + items[name].size)
    return Arena(offsets, -(-size // ALIGN) * ALIGN)
