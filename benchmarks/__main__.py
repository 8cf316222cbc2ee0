"""All benchmarks, or those that are named: `python -m benchmarks [assembling ...]`."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ALL = (
    "assembling",
    "disassembling",
    "scalar",
    "array",
    "sparse",
    "engines",
    "dma",
    "nnp",
    "deepbench",
    "fim",
    "debugger",
