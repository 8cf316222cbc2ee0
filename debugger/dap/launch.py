"""Reads the request `launch`: the program, its inputs, and how the run begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from macaw.debugger.dap.arguments import flag, record, text, texts, whole
from macaw.debugger.dap.connection import RequestError


@dataclass(frozen=True)
class Launch:
    """The values of a request `launch`. Paths are absolute if the request has a `cwd`."""

    program: tuple[str, ...]  # sources, one executable, or one folder
    folder: str = ""  # `cwd`; empty for the present folder
    inputs: Mapping[str, str] = field(default_factory=dict)  # .npy files by the input's name
    device: str | None = None
    engine: str | None = None
    item: int | None = None  # index on the batch axis
    stop_on_entry: bool = False
    stop_on_exit: bool = False  # whether to stop at the end, so that the user can go back
    no_debug: bool = False


def read_launch(arguments: Mapping[str, Any]) -> Launch:
    """Return the values in the arguments of a request `launch`. Raises `RequestError`."""
    folder = text(arguments, "cwd", "")
    program = arguments.get("program")
    paths = (
        texts(arguments, "program") if isinstance(program, list) else [text(arguments, "program")]
    )
    if not paths or not all(paths):
        raise RequestError("program must name a file or a folder")
    inputs = record(arguments, "inputs")
    device = text(arguments, "device", "")
    return Launch(
        tuple(_path(folder, path) for path in paths),
        folder,
        {name: _path(folder, text(inputs, name, what=f"inputs.{name}")) for name in inputs},
        _device(folder, device) if device else None,
        text(arguments, "engine", "") or None,
        whole(arguments, "item") if arguments.get("item") is not None else None,
        flag(arguments, "stopOnEntry"),
        flag(arguments, "stopOnExit"),
        flag(arguments, "noDebug"),
    )


def _path(folder: str, path: str) -> str:
    if "\0" in path or "\0" in folder:
        raise RequestError("a path has no zero characters")
    return str(Path(folder) / path) if folder else path


def _device(folder: str, device: str) -> str:
    """Return the name of a device unchanged; for a device file, its path below `folder`."""
    is_file = device.endswith(".toml") or Path(device).name != device
    return _path(folder, device) if is_file else device
