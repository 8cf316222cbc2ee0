"""Points that a folder keeps: they run again when any file has changed that they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import macaw
from macaw.sweeps import sweeping
from macaw.sweeps.points import Outcome, Point
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model


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


@pytest.mark.once
def test_arrays_beside_a_graph_are_files_of_its_points(tmp_path: Path) -> None:
    def save(seed: int) -> None:
        weights = np.random.default_rng(seed).integers(-3, 4, (16, 8)).astype(np.float32)
        made = onnx_model(
            [NODE("MatMul", ["x", "W"], ["y"])], {"x": (20, 16)}, {"y": ((20, 8), 1)}, W=weights
        )
        (tmp_path / "w.bin").unlink(missing_ok=True)
        path = tmp_path / "m.onnx"
        onnx.save(made, path, save_as_external_data=True, location="w.bin", size_threshold=0)

    def run() -> Outcome:
        lower = {"graph": tmp_path / "m.onnx"}
        (outcome,) = macaw.sweep(
            settings={"dma.width": [16]}, lower=lower, device="tiny", folder=tmp_path / "kept"
        ).outcomes
        return outcome

    save(1)
    first = run()
    assert [Path(name).name for name in first.files] == ["m.onnx", "w.bin"]
    assert run().reused
    save(5)
    again = run()
    assert not again.reused
    assert again.metrics["error"] != first.metrics["error"]
