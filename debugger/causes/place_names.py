"""Names places: in memory by tensors and symbols, in a core's state by its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.places import Place as Unit
from macaw.debugger.places import counts
from macaw.debugger.state_paths import depth_of

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.emu.core import Core
    from macaw.emu.origins import Place


def of_program(program: Program, address: int) -> int | None:
    """Return the address at which a core sees a byte of the program's image.

    The result is None if the image has no byte at `address`.
    """
    for part in program.sections:
        if part.load_address <= address < part.load_address + part.size:
            return part.address + address - part.load_address
    return None


def memory_name(program: Program, address: int) -> str:
    """Return the name of the tensor element at an address, else the address with its symbol."""
    for tensor in (*program.tensors, *program.arrays):
        if tensor.address <= address < tensor.address + tensor.size:
            item = np.dtype(tensor.dtype).itemsize
            place = np.unravel_index((address - tensor.address) // item, tensor.shape or (1,))
            return f"{tensor.name}[{', '.join(str(int(x)) for x in place)}]"
    near = program.symbol_at(address)
    if near is None:
        near = program.symbol_at(of_program(program, address) or address)
    symbol = f" <{near[0].name}{f'+{near[1]}' if near[1] else ''}>" if near else ""
    return f"{address:#010x}{symbol}"


def state_name(core: Core, place: Place) -> str:
    """Return the name of a place in an expression: `cp.a3`, `pe[1,0].3.q1[2]`.

    If the place has several elements, it is the name of the first one.
    """
    row = next(row for row in core.state.fields if row.name == place.field)
    shape, size = row.shape, 1
    if row.dtype not in ("object", "memory") and shape:
        size = int(getattr(core.state, row.name).itemsize)
    if not shape or row.dtype == "memory":
        some = f"[{place.first}]" if row.dtype == "object" and place.size else ""
        return f"{core.name}.{row.path or row.name}{some}"
    index = [int(x) for x in np.unravel_index(place.first // size, shape)]
    if place.size > size and place.size % (size * shape[-1]) == 0:
        index.pop()  # whole rows
    depth = depth_of(row, counts(core))
    head, rest = str(Unit(core.name, tuple(index[:depth]))), index[depth:]
    for file in core.table.files:
        if file.name == row.name:
            if len(file.names) > 1 and rest:
                head, name = f"{head}.{file.names[rest[0]][0]}", ""
                rest = rest[1:]
                break
            name = file.names[0][0]
            break
    else:
        name = row.path or row.name
    if name:
        head = f"{head}.{name}"
    return head + (f"[{', '.join(map(str, rest))}]" if rest else "")
