"""Import scripts below programs/, which belong to no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PROGRAMS = Path(__file__).parents[2] / "programs"


def script(path: str, name: str = "") -> ModuleType:
    """The module of a file below programs/; `sys.modules` keeps it as `name` for later imports."""
    name = name or path.removesuffix(".py").replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
