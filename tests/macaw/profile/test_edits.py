"""If a sample program is edited as a finding says, it saves a fifth of the price or more."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from macaw.execution import configuration_of
from macaw.golden_description import read_description
from macaw.profiling import findings
from macaw.profiling.accounting import charge_job
from macaw.profiling.model import Finding
from macaw.profiling.recording import item_inputs, make_job
from tests.macaw.profile.edits import EDITS, Edit
from tests.macaw.profile.edits_of_arrays import ARRAY_EDITS

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[3]
PROGRAMS = ROOT / "programs"
MOST = 3  # findings of a program
LEAST = 0.2  # of the price
LONG = ("digits_cnn",)
ALL_EDITS = (*EDITS, *ARRAY_EDITS)


@cache
def found(sample: str) -> tuple[Finding, ...]:
    """The first findings of a sample program."""
    made = read_description(PROGRAMS / sample)
    program = macaw.assemble(*made.sources)
    inputs = {name: np.load(path) for name, path in made.inputs.items()}
    inputs = item_inputs(program, inputs, 0)
    run = charge_job(make_job(program, configuration_of(program, None), inputs))
    return findings.find(run)[:MOST]


def run(folder: Path, sample: str) -> macaw.Result:
    """The run of a sample program that is in a folder, with its first inputs."""
    made = read_description(PROGRAMS / sample)
    inputs = {name: np.load(path) for name, path in made.inputs.items()}
    paths = [folder / path.relative_to(PROGRAMS / sample) for path in made.sources]
    program = macaw.assemble(*paths)
    return macaw.run(program, item_inputs(program, inputs, 0))


def order_of(edit: Edit) -> NDArray[np.intp]:
    """The order of the rows of the edit's matrix; those with most weights come first."""
    weights = np.load(PROGRAMS / edit.sample / edit.ordered)
    return np.argsort(-np.count_nonzero(weights, axis=1), kind="stable")


def edited(edit: Edit, tmp_path: Path) -> Path:
    """A copy of a sample program with an edit."""
    folder = tmp_path / "edited"
    copytree(PROGRAMS / edit.sample, folder, ignore=ignore_patterns("expected"))
    path = folder / (edit.file or read_description(PROGRAMS / edit.sample).sources[0].name)
    text = path.read_text("utf-8")
    for before, after in edit.changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, "utf-8")
    if edit.ordered:
        weights = np.load(folder / edit.ordered)
        np.save(folder / edit.ordered, weights[order_of(edit)])
    return folder


def finding_of(edit: Edit) -> Finding:
    (finding,) = (
        x
        for x in found(edit.sample)
        if (x.core, x.cause, x.where.rpartition(": ")[0].partition(": ")[0])
        == (edit.core, edit.cause, edit.place)
    )
    return finding


def row_of(edit: Edit, price: int, before: int, after: int) -> str:
    """The row of an edit in the table of docs/profile.md."""
    about = f"| `{edit.sample}` | {edit.core} | `{edit.cause}` | {edit.does} |"
    return f"{about} {price:,} | {before - after:,} | {before:,} | {after:,} |"


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(
            edit,
            id=f"{edit.sample}-{edit.cause}",
            marks=[pytest.mark.long] if edit.sample in LONG else [],
        )
        for edit in ALL_EDITS
    ],
)
def test_an_edit_saves_a_fifth_of_the_price(edit: Edit, tmp_path: Path) -> None:
    price = finding_of(edit).saved
    slow, fast = run(PROGRAMS / edit.sample, edit.sample), run(edited(edit, tmp_path), edit.sample)
    for name, values in slow.outputs.items():
        if name != "cycles":  # which the program counts itself
            wanted = values[..., order_of(edit)] if edit.ordered else values
            np.testing.assert_array_equal(wanted, fast.outputs[name])
    assert slow.cycles - fast.cycles >= LEAST * price
    rows = (ROOT / "docs/profile.md").read_text("utf-8").splitlines()
    assert row_of(edit, price, slow.cycles, fast.cycles) in rows


def test_the_docs_have_no_other_edits() -> None:
    rows = (ROOT / "docs/profile.md").read_text("utf-8").splitlines()
    starts = tuple(f"| `{x.sample}` |" for x in ALL_EDITS)
    assert sum(row.startswith(starts) for row in rows) == len(ALL_EDITS)
