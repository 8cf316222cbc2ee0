"""The fuzzing targets by name."""

from __future__ import annotations

from typing import Any

from tests.fuzz import (
    configs,
    debugger_lines,
    devices,
    elf_files,
    lsp_messages,
    npy_files,
    onnx_models,
    onnx_networks,
    source_text,
    words,
)
from tests.fuzz.target import Target

_ALL: tuple[Target[Any], ...] = (
    source_text.TARGET,
    elf_files.TARGET,
    npy_files.TARGET,
    configs.TARGET,
    words.TARGET,
    debugger_lines.TARGET,
    lsp_messages.TARGET,
    devices.TARGET,
    onnx_models.TARGET,
    onnx_networks.TARGET,
)
TARGETS = {target.name: target for target in _ALL}
