"""Fig. 9 of the seed: the part of a product that each cluster computes, by split."""

from __future__ import annotations

# Seed 000 ¶151-170, its slips mended: m, k and n from-to of cluster (p, q).
# Clusters in the seed's order (0, 0), (1, 0), (0, 1), (1, 1).
CLUSTERS = ((0, 0), (1, 0), (0, 1), (1, 1))

RANGES_BY_SPLIT = {
    "a": ["0:1 0:8 0:8", "1:2 0:8 0:8", "2:3 0:8 0:8", "3:4 0:8 0:8"],
    "b": ["0:2 0:8 0:4", "2:4 0:8 0:4", "0:2 0:8 4:8", "2:4 0:8 4:8"],
    "c": ["0:2 0:4 0:8", "2:4 0:4 0:8", "0:2 4:8 0:8", "2:4 4:8 0:8"],
    "d": ["0:2 0:8 0:4", "0:2 0:8 4:8", "2:4 0:8 0:4", "2:4 0:8 4:8"],
    "e": ["0:4 0:8 0:2", "0:4 0:8 2:4", "0:4 0:8 4:6", "0:4 0:8 6:8"],
    "f": ["0:4 0:4 0:4", "0:4 0:4 4:8", "0:4 4:8 0:4", "0:4 4:8 4:8"],
    "g": ["0:2 0:4 0:8", "0:2 4:8 0:8", "2:4 0:4 0:8", "2:4 4:8 0:8"],
    "h": ["0:4 0:4 0:4", "0:4 4:8 0:4", "0:4 0:4 4:8", "0:4 4:8 4:8"],
    "i": ["0:4 0:2 0:8", "0:4 2:4 0:8", "0:4 4:6 0:8", "0:4 6:8 0:8"],
}


def operand_ranges(split: str, place: int) -> dict[str, range]:
    """The ranges of M, K and N that a cluster of Fig. 9 has."""
    pairs = [range(*map(int, text.split(":"))) for text in RANGES_BY_SPLIT[split][place].split()]
    return dict(zip("MKN", pairs, strict=True))
