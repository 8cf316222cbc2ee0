"""A snapshot of a device: its whole state at one position of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from macaw.asm.program import Program
from macaw.emu.state import StateError
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Snapshot:
    """The whole state of a device at one position of a run.

    It never changes. Snapshots share the memory pages that are equal. `device`, `memory` and, by
    core name, `cores` have the values of the declared fields. The cores with numbers below `turn`
    have already had their turn in the snapshot's cycle.
    """

    device: Mapping[str, Any]
    memory: Mapping[str, Any]
    cores: Mapping[str, Mapping[str, Any]]
    turn: int = 0

    @property
    def cycle(self) -> int:
        """The device time."""
        return int(self.device["cycle"])


def snapshot_parts(snapshot: object, cores: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the values of a snapshot by `device`, `memory` and the names of the cores.

    Raises `StateError` unless `snapshot` is of a device with the cores of these names.
    """
    if not isinstance(snapshot, Snapshot):
        raise StateError(f"a snapshot is needed, not a value of type {type(snapshot).__name__}")
    if snapshot.cores.keys() != set(cores):
        raise StateError("the snapshot has other cores than this device")
    return {"device": snapshot.device, "memory": snapshot.memory, **snapshot.cores}


def copy_device(
    kind: type[Any],
    config: Mapping[str, Any],
    engine: str,
    jitter: int | None,
    program: Program | None,
    snapshot: Snapshot,
) -> Any:
    """Return a new device of the class `kind` with the program and the state of a snapshot."""
    device = kind(config, engine=engine, jitter=jitter)
    if program is not None:
        device.load(program)
    device.restore(snapshot)
    return device
