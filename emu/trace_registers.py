"""The registers of a trace block, as programs and tools read and write them (`macaw.isa.trace`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from macaw.emu.faults import Fault
from macaw.emu.recordings import register_values
from macaw.emu.state import State
from macaw.isa import trace
from macaw.isa.trace import ALL, PARAMETERS, RECORDING

_PLACES = trace.places()
_PARAMETERS = {row.name: row for row in PARAMETERS}


class Registers(ABC):
    """The part of a trace block that reads all its registers and writes its parameters."""

    name: str  # name of the core
    state: State  # has the fields of `macaw.emu.recordings.fields`
    counters: list[list[int]]  # by group and register
    on_write: Callable[[str, int], object] | None = None  # called before a parameter gets a value

    @property
    def groups(self) -> int:
        """The number of register groups."""
        return len(self.counters)

    @property
    def size(self) -> str:
        """A sentence for messages, which says how many register groups the block has."""
        return f"the trace block of {self.name} has {self.groups} group{'s' * (self.groups > 1)}"

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether any register group records."""

    @abstractmethod
    def set(self, name: str, value: int) -> None:
        """Set the parameter `name` to a value that the caller has checked."""

    def check(self, group: int) -> None:
        """Raise `Fault` (bad mask) unless the block has the register group `group`."""
        if group >= self.groups:
            raise Fault(
                "bad mask",
                f"register group {group}: the trace block of {self.name} has {self.groups}",
                {"group": group},
            )

    def read(self, name: str) -> int:
        """Return the 32-bit value of a register, by its name in `macaw.isa.trace`.

        If a time needs more bits, the result is its low 32 bits. If a count needs more bits, the
        result is the greatest 32-bit number. Raises `Fault` (out-of-range access) for a group that
        this block does not have.
        """
        if name in _PARAMETERS:
            active = RECORDING if name == "trace_status" and self.active else 0
            return int(getattr(self.state, name)) & ALL | active
        group, place = _PLACES[name]
        if group >= self.groups:
            raise Fault("out-of-range access", f"{name}: {self.size}", {"group": group})
        return register_values(self.counters[group])[place]

    def write(self, name: str, value: int) -> None:
        """Set the parameter `name`. Raises `Fault` if it is read-only or the value is illegal."""
        row = _PARAMETERS.get(name)
        if row is None or row.access != "rw":
            text = f"{name} of the trace block of {self.name} is read-only"
            raise Fault("out-of-range access", text, {"value": value})
        if not 0 <= value <= row.high:
            text = f"{name} of {self.name} is 0 to {row.high}, not {value}"
            raise Fault("out-of-range access", text, {"value": value})
        if value % row.step:
            text = f"{name} of {self.name} is a multiple of {row.step}, not {value:#010x}"
            raise Fault("misaligned access", text, {"value": value})
        if self.on_write is not None:
            self.on_write(name, value)
        self.set(name, value)
