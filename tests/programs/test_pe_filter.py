"""programs/pe_filter: a filter in which each PE begins at its own address."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import macaw

FOLDER = Path("programs/pe_filter")


def signal() -> np.ndarray:
    return np.load(FOLDER / "x.npy")


def test_the_filter_against_numpy():
    """Each PE reads at its own address, by `.stride` (seed 000 ¶8, ¶88, ¶106)."""
    taps = np.load(FOLDER / "taps.npy")[0].astype(int)
    run = macaw.run(macaw.assemble(FOLDER / "pe_filter.s"), x=signal())
    expected = np.correlate(signal().astype(int)[:63], taps, "valid")
    np.testing.assert_array_equal(run.outputs["y"], expected)


def test_it_needs_its_strides():
    """Without `.stride` all eight PEs compute the same results."""
    source = (FOLDER / "pe_filter.s").read_text()
    plain = "\n".join(
        line for line in source.splitlines() if not line.strip().startswith(".stride")
    )
    same = macaw.Source(plain, "plain.s", FOLDER)
    y = macaw.run(macaw.assemble(same), x=signal()).outputs["y"].reshape(7, 8)
    assert (y == y[:, :1]).all()
    assert len(np.unique(y)) > 1
