"""Refused points that a folder keeps: they run again when a file has changed that they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from macaw.sweeps import sweeping
from macaw.sweeps.points import Outcome, Point


@pytest.mark.parametrize("wrong", ["li a0, 1", "wrong", None])
def test_a_refused_point_runs_again_when_a_file_has_changed(
    tmp_path: Path, wrong: str | None
) -> None:
    """Also when a file has changed that the source includes, or that was missing."""
    included, source = tmp_path / "code.inc", tmp_path / "p.s"
    included.write_text("li a0, 0\n")
    source.write_text('.core cp\n.include "code.inc"\nli a7, 93\necall\n')
    subject = sweeping.source_subject([str(source)], {}, None, None)
    point = [Point((("dma.width", 16),))]

    def run() -> Outcome:
        more: dict[str, Any] = {"workers": 1, "scheduler": None, "watch": lambda done, total: None}
        (outcome,) = sweeping.run_points(subject, point, folder=tmp_path / "kept", **more)
        return outcome

    if wrong is None:
        included.unlink()
    else:
        included.write_text(f"{wrong}\n")
    assert run().refused
    assert run().reused == (wrong == "li a0, 1")  # that one could be assembled
    included.write_text("li a0, 0\n")
    assert not run().refused
    assert run().reused
