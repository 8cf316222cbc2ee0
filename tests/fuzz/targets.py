"""The fuzzing targets by name."""

from __future__ import annotations

from typing import Any

from tests.fuzz import configs, elf_files, npy_files, source_text
from tests.fuzz.target import Target

_ALL: tuple[Target[Any], ...] = (
    source_text.TARGET,
    elf_files.TARGET,
    npy_files.TARGET,
    configs.TARGET,
)
TARGETS = {target.name: target for target in _ALL}
