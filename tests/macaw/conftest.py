"""Programs that several tests of the command run."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
LAYER = ROOT / "programs" / "layer"
HELLO = ROOT / "programs" / "hello" / "hello.s"

Macaw = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def macaw(tmp_path: Path) -> Macaw:
    """Runs `macaw` with the arguments in the test's folder."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "macaw", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep), **environment},
            check=False,
        )

    return run


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A copy of the sample program `layer`, in the test's folder; without its recording."""
    for name in ("layer.s", "weights.npy", "x.npy", "golden.toml"):
        (tmp_path / name).write_bytes((LAYER / name).read_bytes())
    return tmp_path / "layer.s"


@pytest.fixture
def expected_y() -> np.ndarray:
    """What the layer gives for its x, by NumPy."""
    return np.load(LAYER / "weights.npy").astype(np.int32) @ np.load(LAYER / "x.npy")


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an assembly source into the test's folder."""

    def write(text: str, name: str = "p.s") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
