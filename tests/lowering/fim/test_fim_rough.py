"""The rough estimates of products on islands equal the recorded ones in rough.txt.

Estimates only decide which tilings are simulated, so no other test notices a change of them.
`python -m tests.lowering.fim.test_fim_rough` records them anew; examine the change first.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

from macaw.isa.config import load
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES
from macaw.lowering.fim.options import rough
from macaw.lowering.fim.shape import Shape
from macaw.lowering.fim.stream_candidates import streams

FILE = Path(__file__).with_name("rough.txt")
SHAPES = (Shape(1, 70, 40), Shape(12, 20, 18), Shape(33, 9, 5, form=1), Shape(64, 48, 64))
ADD, MUL = 0, 2  # functions after the product


def estimates() -> list[str]:
    """For each shape, island and layout: the number of tilings, and three of them."""
    lines = []
    for name, shape in product(("tiny", "base"), SHAPES):
        config = load(name)
        for island, (layout, arrangement) in product((0, 1), enumerate(ARRANGEMENT_NAMES)):
            for after in ((), (ADD, MUL)):
                found = list(streams(shape, config, island, layout, after))
                if not found:
                    continue
                lines.append(f"{name} {shape} {island} {arrangement} {after}: {len(found)} tilings")
                for way in dict.fromkeys((found[0], found[len(found) // 2], found[-1])):
                    sizes = (way.high, way.wide, way.banks, way.blocks, way.starts)
                    guesses = [
                        rough(way, config, *known)
                        for known in ((False,) * 3, (True, False, False), (False, True, True))
                    ]
                    lines.append(f"  {sizes}: {guesses}")
    return lines


def test_estimates_are_what_they_were() -> None:
    """The estimates equal the recorded ones (seed 004 ¶42-43)."""
    assert estimates() == FILE.read_text("utf-8").splitlines()


if __name__ == "__main__":
    FILE.write_text("\n".join([*estimates(), ""]), "utf-8")
