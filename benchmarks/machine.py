"""Facts about this machine and this tree: processor, versions, load, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
_TOOLS = {"GNU as": "riscv64-unknown-elf-as", "llvm-mc": "llvm-mc"}
_PACKAGES = ("bronzebeard", "py65", "riscv-model", "tinyrv", "unicorn", "numpy", "scipy", "onnx")
_WRITTEN = (":!docs/benchmarks*.json", ":!docs/benchmarks.md")  # by the benchmarks themselves


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "an unknown processor"


def versions() -> dict[str, str]:
    """Return the versions of Python, of the peers and of the packages that figures depend on."""
    found = {"Python": platform.python_version()}
    for name, command in _TOOLS.items():
        try:
            said = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
        except OSError:
            continue
        line = next((x for x in said.splitlines() if any(char.isdigit() for char in x)), "")
        found[name] = line.split()[-1] if line else "unknown"
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def load() -> float:
    """Return the 1-minute load average."""
    return round(os.getloadavg()[0], 2)


def commit() -> str:
    """Return the commit of the tree, with `+` if files differ from it; `unknown` without Git."""
    try:
        name = _git("rev-parse", "--short=8", "HEAD")
        return name + ("+" if _git("status", "--porcelain", "-uno", "--", ".", *_WRITTEN) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def today() -> str:
    """Return the date in UTC."""
    return datetime.now(UTC).date().isoformat()


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()
