"""The benchmark of layers of networks measures and compares with NumPy."""

from __future__ import annotations

import re

import pytest

from benchmarks import network_layers


def test_a_small_layer(capsys: pytest.CaptureFixture[str]) -> None:
    network_layers.main(["--smoke"])
    printed = capsys.readouterr().out
    assert re.search(
        r"^\| 1×1, 32 → 8 at 6² \| 9,216 \| [0-9.]+ \| [0-9.]+ \([0-9.]+\)", printed, re.M
    )
    assert printed.count("target") == 1
