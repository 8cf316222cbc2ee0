"""Faults and stops: errors of the running program, and the reasons why a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from macaw.isa.errors import MacawError
from macaw.isa.lazy_dataclass import dataclass

Reason = Literal[
    "exit", "fault", "deadlock", "cycle limit", "breakpoint", "interrupt", "step", "event"
]
Place = tuple[str, int, int]  # file, line, column


def amount(count: int, noun: str) -> str:
    """Return a count with its noun, for messages: `a byte`, `2 bytes`."""
    return f"a {noun}" if count == 1 else f"{count} {noun}s"


class Fault(Exception):
    """An error of the simulated program that the device detects.

    The core that raises the fault gives `kind`, `message` and `values`. `kind` is the name of a
    fault in the table of the core whose act fails. `message` describes which values caused the
    fault; `values` has these values for programs. The device sets `core`, `address` (of the
    instruction), `cycle` and `place` if they are None. The core must not advance: its time and next
    address are still those of the faulting instruction.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        values: Mapping[str, int | str] | None = None,
        *,
        core: str | None = None,
        address: int | None = None,
        cycle: int | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message
        self.values = dict(values or {})
        self.core = core
        self.address = address
        self.cycle = cycle
        self.place = place

    def __str__(self) -> str:
        """Return the whole message: place, core, kind, address, cycle and description.

        For example `a.s:12:9: cp: misaligned access at 0x00010008, cycle 42: ...`.
        """
        where = "".join(f"{part}:" for part in self.place) + " " if self.place else ""
        core = f"{self.core}: " if self.core else ""
        address = "" if self.address is None else f" at {self.address:#010x}"
        cycle = "" if self.cycle is None else f", cycle {self.cycle}"
        return f"{where}{core}{self.kind}{address}{cycle}: {self.message}"

    def plain(self) -> tuple[Any, ...]:
        """Return the fault as a plain value (`macaw.emu.plain`)."""
        return (
            self.kind, self.message, self.values, self.core, self.address, self.cycle, self.place,
        )  # fmt: skip

    @classmethod
    def from_plain(cls, value: tuple[Any, ...]) -> Fault:
        """Return the fault from the plain value that `plain` returned."""
        kind, message, values, core, address, cycle, place = value
        return cls(kind, message, values, core=core, address=address, cycle=cycle, place=place)


class DeviceError(MacawError, ValueError):
    """A request of the caller that the device cannot do; its message is for users."""


@dataclass(frozen=True)
class Stop:
    """Why and in which cycle a run stopped.

    The caller can then inspect the device, and continue the run unless the stop is an exit or a
    fault. `cycle` is the device time: for an exit the cycle after the instruction, for a fault the
    cycle in which it happened, for a cycle limit the limit. `core` is the core that exited, faulted
    or reached a breakpoint; `address` is that of its instruction at a fault or breakpoint. `before`
    is true if a break stopped the core before the instruction had any effect.
    """

    reason: Reason
    cycle: int
    message: str = ""
    exit_code: int | None = None  # the exit code, if the reason is an exit
    fault: Fault | None = None
    core: str = ""
    address: int | None = None
    before: bool = False

    def __str__(self) -> str:
        return self.message or f"{self.reason} at cycle {self.cycle}"

    def plain(self) -> tuple[Any, ...]:
        """Return the stop as a plain value (`macaw.emu.plain`)."""
        fault = None if self.fault is None else self.fault.plain()
        return (
            self.reason,
            self.cycle,
            self.message,
            self.exit_code,
            fault,
            self.core,
            self.address,
        )  # fmt: skip (`before` is of no stop that ends a run)

    @classmethod
    def from_plain(cls, value: tuple[Any, ...]) -> Stop:
        """Return the stop from the plain value that `plain` returned."""
        reason, cycle, message, exit_code, fault, core, address = value
        cause = None if fault is None else Fault.from_plain(fault)
        return cls(reason, cycle, message, exit_code, cause, core, address)
