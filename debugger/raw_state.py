"""Reads registers as bits, and returns commands that change registers and memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.isa.model import RegisterFile

PC, CSR = "pc", "csr"  # names that stand for register files
WORD_BITS = 32
MOST_COMMANDS = 64  # the greatest number of commands for one change of memory


def raw_register(core: Core, file: str, number: int) -> int | None:
    """Return the bits of a register of a core as an unsigned number.

    `file` is the name of a register file of the core's table, "pc", or "csr". For "csr", `number`
    is the address of a control and status register. The result is None for a register without a
    value now, such as the pc of an idle core. Raises `SessionError`.
    """
    if file == PC:
        return core.next_address
    if file == CSR:
        return _special(core, number)
    row = _file(core, file, number)
    core.sync()
    value = getattr(core.state, row.name)[number]
    if isinstance(value, np.ndarray):  # the bytes of a vector, the lowest first
        return int.from_bytes(value.tobytes(), "little")
    return int(value) & (1 << row.width) - 1


def _special(core: Core, address: int) -> int | None:
    if all(row.address != address for row in core.table.specials):
        raise SessionError(f"{core.name} has no control and status register {address:#x}")
    core.sync()
    return core.special_register(address)


def _file(core: Core, name: str, number: int) -> RegisterFile:
    """Return the register file `name` of a core. Raise `SessionError` if it lacks the register.

    The error is also raised for a register file of the core's units, because each register of such
    a file has several values.
    """
    files = {row.name: row for row in core.table.files if not core.table.levels}
    if name not in files or not 0 <= number < len(files[name].names):
        names = ", ".join([*files, PC, CSR])
        raise SessionError(f"{core.name} has no register {number} of {name!r:.40}; of {names}")
    return files[name]


def register_commands(core: Core, file: str, number: int, bits: int) -> dict[str, int]:
    """Return the assignments that set a register to `bits`: {expression: value}.

    The register is number `number` of the core's register file `file`, or the pc if `file` is "pc".
    A register wider than 32 bits has an assignment for each byte. Raises `SessionError` for a
    register that cannot be set.
    """
    if file == CSR:
        raise SessionError(f"{core.name}: control and status registers cannot be set from outside")
    if file == PC:
        if core.next_address is None:
            raise SessionError(f"{core.name} is idle: it has no pc")
        return {f"{core.name}.pc": bits & (1 << WORD_BITS) - 1}
    row = _file(core, file, number)
    name = f"{core.name}.{row.names[number][0]}"
    if row.width <= WORD_BITS:
        value = bits & (1 << row.width) - 1
        return {name: value - (value >> row.width - 1 << row.width) if row.signed else value}
    data = (bits & (1 << row.width) - 1).to_bytes(row.width // 8, "little")
    return {f"{name}[{at}]": byte for at, byte in enumerate(data)}


def memory_commands(address: int, data: bytes) -> tuple[str, ...]:
    """Return the commands that write `data` to memory; no commands if there would be too many."""
    commands = tuple(_memory_commands(address, data[: 5 * MOST_COMMANDS]))
    return commands if len(commands) <= MOST_COMMANDS and len(data) <= 5 * MOST_COMMANDS else ()


def _memory_commands(address: int, data: bytes) -> Iterator[str]:
    at = 0
    while at < len(data):
        size = next(n for n in (4, 2, 1) if n <= len(data) - at and not (address + at) % n)
        value = int.from_bytes(data[at : at + size], "little")
        yield f"set mem[{address + at:#x}].u{8 * size} = {value:#x}"
        at += size
