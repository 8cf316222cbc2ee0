"""All benchmarks, or those that are named: `python -m benchmarks [assembling ...]`."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ALL = (
    "calibration",
    "assembling",
    "repeating",
    "disassembling",
    "scalar",
    "array",
    "network_layers",
    "sparse",
    "engines",
    "dma",
    "nnp",
    "deepbench",
    "fim",
    "tracing",
    "debugger",
    "debugger_screen",
    "protection",
    "editing",
    "startup",
    "sweeps",
)
_TOOLS = {"GNU as": "riscv64-unknown-elf-as", "llvm-mc": "llvm-mc"}
_PACKAGES = ("bronzebeard", "py65", "riscv-model", "tinyrv", "unicorn", "numpy", "scipy")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "an unknown processor"


def _versions() -> list[str]:
    found = []
    for name, command in _TOOLS.items():
        try:
            said = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
        except OSError:
            continue
        line = next(x for x in said.splitlines() if any(char.isdigit() for char in x))
        found.append(f"{name}: {line.strip()}")
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Run each in a process of its own: none inherits another's memory mark."""
    names = sys.argv[1:] or ALL
    for name in names:
        if name not in ALL:
            sys.exit(f"no benchmark is called '{name}', there are {', '.join(ALL)}")
    print(
        f"Python {platform.python_version()}, {_processor()}; {'; '.join(_versions())}.\n",
        flush=True,
    )
    for name in names:
        status = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode
        if status:
            sys.exit(status)
        print(flush=True)


if __name__ == "__main__":
    main()
