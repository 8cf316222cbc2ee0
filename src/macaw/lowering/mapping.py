"""Defines the three mappings: which operand stays in the array (seed 000 Fig. 7).

| mapping | loops, outer to inner | what stays, and where |
|---|---|---|
| input | m, k, n | activations in the PEs' input buffers |
| weight | n, k, m | weights in the memory units |
| output | m, n, k | sums in the PEs' accumulators |
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Mapping:
    """A loop order over the dimensions M, N and K, the outermost loop first.

    The operand that the innermost loop's dimension does not index stays where it is: activations
    (M, K), weights (N, K) or sums (M, N). `seed` names the paragraphs of seed 000 that describe the
    mapping.
    """

    name: str
    order: tuple[str, str, str]  # the dimensions of the loops, from outer to inner
    seed: str  # the paragraphs of seed 000 that describe the mapping

    @property
    def inner(self) -> str:
        """The dimension of the innermost loop: "M", "N" or "K"."""
        return self.order[2]

    def __reduce__(self) -> tuple[Callable[[str], Mapping], tuple[str]]:
        """Let unpickling return the mapping of this module, because code compares by `is`."""
        return mapping_named, (self.name,)


def mapping_named(name: str) -> Mapping:
    """Return the mapping with this name. Raises `KeyError` if there is none."""
    return MAPPINGS[name]


INPUT = Mapping("input", ("M", "K", "N"), "¶142-143")
WEIGHT = Mapping("weight", ("N", "K", "M"), "¶145")
OUTPUT = Mapping("output", ("M", "N", "K"), "¶144")
MAPPINGS = {mapping.name: mapping for mapping in (INPUT, WEIGHT, OUTPUT)}
