"""Random programs on random devices and data: software and emulator give the same bits."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from asm.source import Source
from lower.concord import arithmetic
from macaw import api, concordance
from macaw.errors import RunError
from tests.lower.concord import programs


def agree(target: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = programs.device(rng)
    chains, repeats = int(rng.integers(1, 10)), int(rng.choice([1, 1, 2, 3]))
    source = programs.program(rng, config, chains, repeats)
    program = api.assemble(Source(source, "random.s"), device=config)
    found = concordance.concord(program, target)
    try:
        difference = found.check(programs.tensors(rng, found))
    except RunError:  # a NaN at a quantiser, a sum that leaves the accumulator
        assume(False)
    assert difference is None, f"{difference}\n{source}"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_numpy(seed: int) -> None:
    agree("numpy", seed)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32))
def test_onnx(seed: int) -> None:
    agree("onnx", seed)


def test_files_are_clean(tmp_path: Path) -> None:
    """Linter and formatter have nothing to say, whatever the program is."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        config = programs.device(rng)
        source = programs.program(rng, config, 8, 1 + seed % 3)
        program = api.assemble(Source(source, "random.s"), device=config)
        target = arithmetic.TARGETS[seed % len(arithmetic.TARGETS)]
        concordance.concord(program, target).write(tmp_path / f"random{seed}.py")
    ruff = [sys.executable, "-m", "ruff"]
    kinds = "E4,E7,E9,F,I,B,C4,PIE,UP,W,RUF"
    subprocess.run([*ruff, "check", "-q", "--isolated", f"--select={kinds}", tmp_path], check=True)
    subprocess.run([*ruff, "format", "-q", "--isolated", "--check", tmp_path], check=True)


@pytest.mark.parametrize("seed", range(3))
def test_programs_are_not_trivial(seed: int) -> None:
    """The generator's programs multiply, and give other results for other data."""
    rng = np.random.default_rng(seed)
    config = programs.device(rng)
    source = programs.program(rng, config, 10)
    found = concordance.concord(api.assemble(Source(source, "random.s"), device=config))
    one, other = (found.run(programs.tensors(rng, found)) for _ in range(2))
    assert any(not np.array_equal(one[name], other[name], equal_nan=True) for name in one)
