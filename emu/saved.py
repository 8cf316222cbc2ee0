"""Saved devices: the file format for the state and the configuration of a device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from macaw.emu import plain
from macaw.emu.state import Snapshot, State, StateError, read_arrays, write_arrays


def write(path: str | Path, machine: Mapping[str, Any], states: Mapping[str, State]) -> None:
    """Write the configuration `machine` and the states to the `.npz` file `path`.

    Raises `OSError`.
    """
    arrays = {"config": np.frombuffer(plain.pack(dict(machine)), np.uint8)}
    for name, state in states.items():
        arrays |= state.arrays(f"{name}/")
    write_arrays(path, arrays)


def read(
    path: str | Path, machine: Mapping[str, Any], states: Mapping[str, State]
) -> dict[str, Snapshot]:
    """Return a snapshot of each state from the file `path`, which `write` made.

    No state changes. Raises `StateError` if there is no such file, or if the file has another
    configuration than `machine` or another format.
    """
    arrays = read_arrays(path)
    try:
        config = plain.unpack(arrays["config"].tobytes())
    except (KeyError, plain.PlainError) as error:
        raise StateError(f"{path}: is no saved device: {error}") from None
    if not isinstance(config, dict):
        raise StateError(f"{path}: is no saved device: it has no configuration")
    if config != machine:
        differ = [key for key in {**machine, **config} if config.get(key) != machine.get(key)]
        raise StateError(f"{path}: is of another configuration: {', '.join(differ)}")
    return {name: state.from_arrays(arrays, f"{name}/") for name, state in states.items()}
