"""A metric that a sweep is asked for is in its result although it is 0 at all points."""

from __future__ import annotations

import pytest

import macaw
from macaw.errors import InputError
from tests.macaw.conftest import ROOT, Macaw

LAYER = ROOT / "programs" / "layer"
WORDS = ("sweep", LAYER / "layer.s", "-i", f"x={LAYER / 'x.npy'}", "--set", "dma.width=8,16")


def test_it_is_in_the_table_and_on_the_front(macaw: Macaw) -> None:
    done = macaw(*WORDS, "--metric", "vc.products", "--pareto", "vc.instructions")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()[1:3]]
    assert rows == [["8", "0", "*"], ["16", "0", "*"]]


def test_it_is_in_the_files(macaw: Macaw) -> None:
    lines = macaw(*WORDS, "--metric", "vc.products", "--csv", "-").stdout.splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["vc.products", "0", "0"]


def test_the_error_names_the_metric_that_no_point_has() -> None:
    settings = {"fim.islands": [1, 3]}
    inputs = {"x": LAYER / "x.npy"}
    names = ["fim[2].instructions", "fim[2].unknown"]
    with pytest.raises(InputError, match=r"no point has a metric 'fim\[2\]\.unknown'"):
        macaw.sweep(LAYER / "layer.s", settings=settings, inputs=inputs, metrics=names)


def test_a_core_may_be_of_only_some_points() -> None:
    found = macaw.sweep(
        LAYER / "layer.s",
        settings={"fim.islands": [1, 3]},
        inputs={"x": LAYER / "x.npy"},
        metrics=["fim[2].instructions"],
    )
    assert found.column("fim[2].instructions") == [0, 0]
