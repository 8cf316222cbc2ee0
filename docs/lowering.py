"""Write the table of docs/lowering.md: Fig. 8's product by all mappings and splits, run now."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from macaw.layer_lowering import Measurement, lower
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.partition import SPLITS

PAGE = Path(__file__).with_suffix(".md")
BEGIN, END = "<!-- table -->\n", "<!-- end -->"


def operands() -> tuple[np.ndarray, np.ndarray]:
    """Activations (m, k) and weights (n, k) of Fig. 8; no two numbers are equal."""
    return (
        np.arange(1, 33, dtype=np.int8).reshape(4, 8),
        np.arange(1, 65, dtype=np.int8).reshape(8, 8),
    )


def row(mapping: str, split: str, predicted: int, measured: Measurement) -> str:
    """A line of the table."""
    cells = mapping, split, measured.cycles, predicted, measured.external_bytes
    return f"| {' | '.join(map(str, cells))} |"


def table() -> str:
    """All lines."""
    lines = ["| mapping | split | cycles | predicted | bytes |", "|---|---|---|---|---|"]
    activations, weights = operands()
    for mapping in MAPPINGS:
        for split in SPLITS:
            found = lower("spmm", weights, rows=4, device="tiny", mapping=mapping, split=split)
            measured = found.measure(activations)
            assert measured.equal
            lines.append(row(mapping, split, found.cost.cycles, measured))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace the table in the page."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table()}{END}{tail}", "utf-8")


if __name__ == "__main__":
    main()
