"""The sparse PE array (seed 000, ¶84-¶131). Each row of it is one core: `pe[0]`, `pe[1]`, ..."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.core import Core
from macaw.emu.pe.fast.row import FastRow
from macaw.emu.pe.row import Row
from macaw.emu.system import System


def _reference() -> type[Row]:
    from macaw.emu.pe.reference.row import ReferenceRow

    return ReferenceRow


ENGINES: dict[str, Callable[[], type[Row]]] = {"fast": lambda: FastRow, "reference": _reference}


def build(device: System) -> list[Core]:
    """Return the row cores of `device`, and give each row the on-chip unit that feeds it."""
    engine = device.select(ENGINES)
    rows: list[Core] = []
    for number in range(int(device.config["pe.rows"])):
        row = engine(device, number)
        device.memory.add_unit(number, row)
        rows.append(row)
    return rows
