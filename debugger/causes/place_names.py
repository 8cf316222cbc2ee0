"""Names places: memory by tensors and symbols, a core's state by the core's table."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.instruction_texts import symbol_text
from macaw.debugger.places import Place as Unit
from macaw.debugger.places import counts
from macaw.debugger.state_paths import depth_of
from macaw.debugger.values import VIEWS
from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.bfloat16 import element_type
from macaw.emu.origins import Extent
from macaw.isa import reading
from macaw.isa.memory_map import HALF_SHIFT, MORE_SHIFT, MOST_UNITS, UNIT_SHIFT, UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macaw.asm.network import ProgramNetwork
    from macaw.asm.program import Program, Tensor
    from macaw.emu.core import Core
    from macaw.emu.origins import Place


def of_program(program: Program, address: int) -> int | None:
    """Return the address that a core uses for a byte that was loaded to `address`.

    The loader puts each section to its load address. The program may copy it from there to the
    address for which it was assembled, which the cores use. The result is None if no section was
    loaded to `address`.
    """
    for part in program.sections:
        if part.load_address <= address < part.load_address + part.size:
            return part.address + address - part.load_address
    return None


def memory_name(program: Program, address: int, layer: int | None) -> str:
    """Return a name for an address: the tensor element there, or the address with its symbol.

    Tensors and arrays of a network share memory. `layer` is the number of the layer that was
    running; with this number, `element_at` chooses the tensor or the array. A part of a program
    (the code and data of one core) may have a copy of a tensor. The name of an element of the copy
    begins with the element's address.

    A unit of on-chip memory has two halves, which contain the same arrays at the same offsets. The
    program is assembled for one half of one unit. An element in the other half, or in another unit
    that contains a copy of the part, has the same name with unit and half in parentheses. If the
    address is in the place to which an array was loaded, and from which the program copies the
    array, the name says this.
    """
    element = element_at(program, address, layer)
    if element is not None:
        return _at_its_place(address, *element)
    if address >> REGION_SHIFT == ONCHIP:
        near = twin(program, address)
        if near is not None:
            element = element_at(program, near, layer)
            symbol = symbol_text(program, near)
            name = element_name(*element) if element is not None else f"<{symbol}>"
            if element is not None or symbol is not None:
                return f"{name} ({half_name(address)})"
    image = of_program(program, address)
    if image is not None and image != address:
        element = element_at(program, image, layer)
        if element is not None:
            return f"{element_name(*element)} in the image at {address:#010x}"
    symbol = symbol_text(program, address)
    if symbol is None and image is not None:
        symbol = symbol_text(program, image)
    return f"{address:#010x}" + (f" <{symbol}>" if symbol is not None else "")


def _at_its_place(address: int, tensor: Tensor, number: int) -> str:
    """Return the name of element `number` of a tensor, such as `y[1, 0]`.

    If the tensor is a copy of another one, the result is the element's `address` with this name:
    `0x80001000 <copy of y[1, 0]>`.
    """
    name = element_name(tensor, number)
    return f"{address:#010x} <copy of {name}>" if tensor.direction == "copy" else name


def label_place(program: Program, address: int, layer: int | None) -> tuple[str, int, str] | None:
    """Return (file, line, label with a distance) for the label before an address, or None.

    The function is for plain data. The line table contains only code and packets, so the function
    searches the sources for the definition of the label; the data are on that line or after it.
    Several layers of a network may define the label; the definition in layer number `layer` has
    priority. The result is None if no source defines the label.
    """
    image = of_program(program, address)
    near = program.symbol_at(address if image is None else image)
    if near is None:
        return None
    files = [*dict.fromkeys((*program.source_files, *program.line_table.files))]
    if program.network is not None and layer is not None:
        numbers = program.network.numbers_by_file
        files.sort(key=lambda file: numbers.get(file.rpartition("/")[2]) != layer)
    place = _label_line(tuple(files), near[0].name)
    text = near[0].name + (f"+{near[1]}" if near[1] else "")
    return None if place is None else (*place, text)


@lru_cache(maxsize=1024)
def _label_line(files: tuple[str, ...], name: str) -> tuple[str, int] | None:
    """Return the first of these files that defines the label `name`, and the line number there."""
    label = re.compile(rf"^\s*(?:[\w.$]+:\s*)*{re.escape(name)}:", re.M)
    for file in files:
        try:
            text = reading.read(file, reading.MOST_TEXT).decode("utf-8", "replace")
        except reading.UnreadableError:
            continue
        match = label.search(text)
        if match is not None:
            return file, text.count("\n", 0, match.end()) + 1
    return None


def element_at(
    program: Program, address: int, layer: int | None = None
) -> tuple[Tensor, int] | None:
    """Return the tensor or array that contains `address`, and the number of the element there.

    Tensors and arrays of a network share memory. `layer` is the number of the layer that was
    running. If it is given, the function chooses the tensor that this layer or the nearest earlier
    layer has made. If there is no such tensor, it chooses an array in the source of this layer or
    of the nearest earlier layer. Otherwise it chooses the first tensor or array that the program
    declares.
    """
    found = [item for begin, end, item in program.places if begin <= address < end]
    if program.network is not None and program.network.columns:
        found = [item for item in found if _has_column(program.network, item, address)]
    if not found:
        return None
    tensor = found[0]
    if layer is not None and program.network is not None and len(found) > 1:
        tensor = _of_layer(program.network, found, layer)
    number = (address - tensor.address) // element_type(tensor.dtype).itemsize
    columns = None if program.network is None else program.network.columns.get(tensor.name)
    if columns is not None:
        row, column = divmod(number, tensor.shape[-1])
        tensor = replace(tensor, shape=(*tensor.shape[:-1], columns.length))
        number = row * columns.length + column - columns.first
    return tensor, number


def _has_column(network: ProgramNetwork, tensor: Tensor, address: int) -> bool:
    """Return whether the byte at `address` belongs to `tensor`.

    Several tensors of a network may be columns of one larger tensor, that is, ranges of its last
    axis; then only the bytes in these columns belong to them.
    """
    if tensor.name not in network.columns:
        return True
    _, first, count = network.columns[tensor.name]
    number = (address - tensor.address) // element_type(tensor.dtype).itemsize
    return first <= number % tensor.shape[-1] < first + count


def _of_layer(network: ProgramNetwork, found: Sequence[Tensor], layer: int) -> Tensor:
    """Return that one of several tensors at the same address which was there in a layer.

    `found` are the tensors, `layer` is the number of the layer. The result is the tensor that this
    layer or the nearest earlier layer has made. If there is none, it is an array from the source of
    this layer or of the nearest earlier one, and otherwise the first tensor in `found`.
    """

    def number(item: Tensor) -> int:
        if item.file:
            return network.numbers_by_file.get(item.file, unknown)
        return network.makers.get(item.name, unknown)

    unknown = layer + 1
    known = [item for item in found if number(item) <= layer]
    return max(known, key=lambda item: (not item.file, number(item)), default=found[0])


def element_name(tensor: Tensor, number: int) -> str:
    """Return the name of an element, such as `y[1, 0]`; `number` counts in C order from 0."""
    place = np.unravel_index(number, tensor.shape or (1,))
    return f"{tensor.name}[{', '.join(str(int(x)) for x in place)}]"


def twin(program: Program, address: int) -> int | None:
    """Return the on-chip address from which the program probably copied the byte at `address`.

    A program declares code and data for one half of one unit, and may copy them to the other half
    or to other units, at the same offset. So if the program declares something in the unit of
    `address`, the result has the same offset in the other half of this unit. Otherwise the result
    has the same offset in the first unit in which the program declares something. The result is
    None if the program declares nothing at the resulting address, or if one of its sections
    contains `address` itself.
    """
    offset = address & (1 << HALF_SHIFT) - 1
    unit = address >> UNIT_SHIFT
    places = [place.address for place in program.sections]
    places += [place.address for place in (*program.arrays, *program.tensors)]
    units = sorted({x >> UNIT_SHIFT for x in places if x >> REGION_SHIFT == ONCHIP})
    if program.section_at(address) is not None or not units:
        return None
    base = unit if unit in units else units[0]
    for half in range(2):
        place = (base << UNIT_SHIFT) + (half << HALF_SHIFT) + offset
        if place != address and (
            program.section_at(place) is not None or element_at(program, place) is not None
        ):
            return place
    return None


def half_name(address: int) -> str:
    """Return the unit and the half of an on-chip address as text: `unit 0, half 1`.

    The address of a multicast has several units: `units 0 to 3, half 1`.
    """
    unit = (address >> UNIT_SHIFT) % MOST_UNITS
    more = (address - UNITS) >> MORE_SHIFT
    units = f"units {unit} to {unit + more}" if more else f"unit {unit}"
    return f"{units}, half {address >> HALF_SHIFT & 1}"


def shown_value(program: Program, value: Any, layer: int | None) -> Any:
    """Return the value of a setting in the form in which the user sees it.

    A setting is a value that only says how a step computes. If `value` is an `Extent` (an address
    with a number of bytes) or a mapping of names to values, the result is a text. Any other value
    is unchanged. `layer` is the number of the layer that was running: the names of addresses in a
    text are those of this layer.
    """
    if isinstance(value, Extent):
        name = memory_name(program, value.address, layer)
        return f"{value.size} bytes at {name}" if value.size else name
    if isinstance(value, dict):
        return ", ".join(f"{name}={shown_value(program, x, layer)}" for name, x in value.items())
    return value


def state_name(core: Core, place: Place) -> str:
    """Return the name of a part of a core's state in expressions: `cp.a3`, `pe[1,0].3.q1[2]`.

    If the part has several elements, the result is the name of the first element. If it is one
    number of another type, the name says this type: `fim[0,3].rz.f16[5]`.
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
        index.pop()  # the part consists of whole rows of an array
    depth = depth_of(row, counts(core))
    head, rest = str(Unit(core.name, tuple(index[:depth]))), index[depth:]
    file = next((file for file in core.table.files if file.name == row.name), None)
    if file is None:
        name = row.path or row.name
    elif len(file.names) > 1 and rest:
        name, rest = file.names[rest[0]][0], rest[1:]
    else:
        name = file.names[0][0]
    if place.dtype is not None and rest:
        view = next(name for name, dtype in VIEWS.items() if dtype == place.dtype)
        name, rest[-1] = f"{name}.{view}", rest[-1] * size // place.dtype.itemsize
    return f"{head}.{name}" + (f"[{', '.join(map(str, rest))}]" if rest else "")
