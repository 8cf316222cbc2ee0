"""Finds the origins of registers and stored words of a scalar core.

The core's instruction table says which registers an instruction reads and writes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from macaw.emu.origins import Origin, Origins, Place, Source
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.semantics import signed
from macaw.isa.codec import Decoded
from macaw.isa.kinds import Immediate, Register
from macaw.isa.scalar import REGISTERS
from macaw.isa.typed_records import NamedTuple

_MEMORY = "memory"
Named = tuple[str, int]  # a register: its file and its number
_ZERO = (REGISTERS.name, 0)


class _Step(NamedTuple):
    """An instruction that began: its announcement number, and its registers' earlier values."""

    number: int
    time: int
    address: int
    found: Decoded
    registers: tuple[tuple[str, Named, Any], ...]  # operand, register, value


class RegisterOrigins(Origins):
    """Records the instructions, the values of their registers, and the data that they loaded."""

    def __init__(self, core: ScalarCore, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.core = core
        self._files = {file.names: file.name for file in core.table.files}
        self.fields = frozenset(self._files.values())
        self._steps: list[_Step] = []
        self._writers: dict[Named, list[int]] = {}  # indices in `_steps`
        # by index in `_steps`: number, address, bytes
        self._loads: dict[int, list[tuple[int, int, int]]] = {}

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        if kind == "instruction":
            self._begins(time, int(values["address"]))
        elif kind == "read" and self._steps:
            access = self.number(), int(values["address"]), int(values["size"])
            self._loads.setdefault(len(self._steps) - 1, []).append(access)

    def _begins(self, time: int, address: int) -> None:
        found = self.core.decoder.fetch(address)
        registers = []
        for name, register in self.operands(found, found.row.reads):
            registers.append((name, register, self._value(register)))
        for _, register in self.operands(found, found.row.writes):
            if register == _ZERO:
                continue
            self._writers.setdefault(register, []).append(len(self._steps))
        self._steps.append(_Step(self.number(), time, address, found, tuple(registers)))

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        at = bisect_left(self._steps, number, key=lambda item: item.number) - 1
        if at >= 0:
            yield self._origin(at)

    def _value(self, register: Named) -> Any:
        """Return the value of a register: a number, or the bytes of a vector in hexadecimal."""
        name, number = register
        if name == self.core.inlines:
            return signed(self.core.x[number])  # in the form that expressions of the debugger show
        return getattr(self.core.state, name)[number].tobytes().hex()

    def _bytes(self, name: str) -> int:
        """Return the number of bytes of one register of the file `name`."""
        return int(getattr(self.core.state, name)[0].nbytes)

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        whole = getattr(self.core.state, place.field).nbytes
        for number, part in place.items(self._bytes(place.field), whole):
            writers = self._writers.get((place.field, number), [])
            at = bisect_left(writers, before, key=lambda item: self._steps[item].number) - 1
            self.require(at >= 0)
            if at >= 0:
                found = self._origin(writers[at])
                found.part = part
                yield found

    def _origin(self, at: int) -> Origin:
        item = self._steps[at]
        return Origin(
            item.number, item.time, item.found.row.mnemonic, item.address,
            sources=partial(self._sources, at),
        )  # fmt: skip

    def _sources(self, at: int) -> Iterator[Source]:
        item = self._steps[at]
        if _MEMORY in item.found.row.reads.split():
            for number, address, size in self._loads.get(at, ()):
                yield Source(_MEMORY, number, (address, size))
        for name, (file, number), value in item.registers:
            if (file, number) != _ZERO:
                size = self._bytes(file)
                yield Source(name, item.number, None, Place(file, number * size, size), None, value)
        row = item.found.row
        offsets = {operand.inside for operand in row.operands}
        for operand in row.operands if not row.flow else ():
            # An operand that is a number. For an access it only determines the address.
            if isinstance(operand.kind, Immediate) and operand.name not in offsets:
                number = int(item.found.values[operand.name])
                text = operand.kind.format(number)  # a control and status register has a name
                value = text if text.isidentifier() else number
                made = Origin(item.number, item.time, "instruction", item.address, "", value)
                yield Source(operand.name, item.number, None, None, made, value, setting=True)

    def operands(self, found: Decoded, names: str) -> Iterator[tuple[str, Named]]:
        """Yield the operands of an instruction that are registers, as (operand, (file, number)).

        `names` has the names of the wanted operands, with spaces between them; others are left out.
        """
        for operand in found.row.operands:
            if operand.name in names.split() and isinstance(operand.kind, Register):
                file = self._files.get(operand.kind.names)
                if file is not None:
                    yield operand.name, (file, int(found.values[operand.name]))
