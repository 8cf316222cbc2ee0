"""Reads the state of a row of the array while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tests.emu.pe_builder import Machine

T = TypeVar("T")


def states_after(machine: Machine, first: int, last: int, look: Callable[[Any], T]) -> list[T]:
    """The results of `look` on the row's state after each of the cycles `first` to `last`."""
    return [look(machine.at(cycle + 1)) for cycle in range(first, last + 1)]


def field_reader(names: str, cluster: int = 0, pe: int = 0) -> Callable[[Any], Any]:
    """A function that reads fields of a PE or of its cluster; of an array, the first element."""

    def found(state: Any) -> Any:
        values = []
        for name in names.split():
            value = getattr(state, name)[cluster]
            value = value[pe] if np.ndim(value) else value
            values.append((value.flat[0] if np.ndim(value) else value).item())
        return tuple(values) if len(values) > 1 else values[0]

    return found


def instruction_starts(machine: Machine, cluster: int = 0) -> list[tuple[int, str]]:
    """A list to which a run adds cycle and mnemonic of each instruction that a cluster starts."""
    row, found = machine.row, []
    names = {0: "mac", 1: "ld", 2: "st", 3: "spu"}

    def hear(event: Any) -> None:
        if event.kind == "instruction" and event.values["cluster"] == cluster:
            offset = event.values["address"] - row.shape.address(0)
            word = int.from_bytes(row.memory.peek(offset, 2), "little")
            found.append((event.time, names[word >> 10]))

    row.listeners.append(hear)
    machine.run()
    return found
