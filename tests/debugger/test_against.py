"""`why E against FILE` goes from a wrong value back to the first value that differs from a file."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import numpy as np
import pytest

from macaw import api
from macaw.debugger.causes import against
from macaw.debugger.causes.against import walk_back
from macaw.debugger.causes.against_text import lines
from macaw.debugger.causes.record import CauseError
from macaw.debugger.causes.references import Comparison, reference
from macaw.debugger.commands.text import answer_text
from macaw.debugging import make_interpreter
from tests.debugger.programs import PROGRAMS, of_source, session

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def wrong_shift(tmp_path_factory):
    """A session of wrong_shift.s at the end of the run, and the folder of the program's files."""
    place = tmp_path_factory.mktemp("wrong_shift")
    shutil.copytree(PROGRAMS / "wrong_shift", place, dirs_exist_ok=True)
    x = np.load(place / "x.npy")
    run = make_interpreter(api.load(str(place / "wrong_shift.s")), {"x": x})
    run.execute("continue")
    return run, place


def ask(wrong_shift, line):
    """The answer to a command line whose file names belong to the folder."""
    run, place = wrong_shift
    words = line.split()
    at = words.index("against") + 1
    for number in range(at, len(words)):
        name, equals, file = words[number].rpartition("=")
        if file.endswith((".npy", ".npz")):
            words[number] = f"{name}{equals}{place / file}"
    return run.execute(" ".join(words))


def test_the_story_in_one_line(wrong_shift):
    line = "why y[1, 0] against golden.npy hidden=golden_hidden.npy x=x.npy"
    answer = ask(wrong_shift, line)
    text = answer_text(answer).replace(f"{wrong_shift[1]}/", "").splitlines()
    assert text[0].startswith("y[1, 0] = 5608, golden.npy has 1321: dma transfer 3 of cp ")
    assert text[1].startswith("  hidden[1, 2] = 127, golden_hidden.npy has 18: pe[0] st base=1 ")
    assert text[2] == "the first difference is hidden[1, 2], made by"
    assert any(x.startswith("    with shift = 5 of ") and "wrong_shift.s:30" in x for x in text)
    assert not any("wrong_shift.s:40" in x for x in text[2:]), "the second layer is not to blame"
    assert any(x.startswith("x[1, 0], x[1, 1], x[1, 2] and ") and "x.npy" in x for x in text)
    assert answer.finds_differences, "with --batch the exit status is 1"
    record = json.loads(json.dumps(answer.json()))["data"]
    assert [x["element"] for x in record["stages"]] == ["y[1, 0]", "hidden[1, 2]"]
    assert [x["expected"] for x in record["stages"]] == [1321, 18]
    settings = [x for step in record["steps"] for x in step["settings"]]
    assert [x["value"] for x in settings if x["role"] == "shift"] == [5]
    assert {x["name"] for x in record["agree"]} == {"x"}


def test_without_more_arrays_all_steps_are_suspect(wrong_shift):
    answer = ask(wrong_shift, "why y against golden.npy")
    text = answer_text(answer)
    assert text.startswith("y[1, 0] = 5608, "), "of the whole tensor the first wrong element"
    assert "wrong_shift.s:40" in text
    assert "wrong_shift.s:30" in text
    assert "nothing before it could be compared" in text


def test_a_right_value_agrees(wrong_shift):
    answer = ask(wrong_shift, "why y[0] against golden.npy")
    assert answer.lines == (f"y[0] agrees with {wrong_shift[1] / 'golden.npy'}",)
    assert not answer.finds_differences
    assert answer.data["agrees"]["found"] == 0


def test_the_bytes_that_a_transfer_copied_are_compared_with_a_file(wrong_shift):
    """`transfer3=FILE` compares the bytes that transfer 3 copied with a file, whether right or not.

    The tensor itself is compared first: y is wrong, although the transfer copied its bytes rightly.
    """
    run, place = wrong_shift
    copied = run.session.read("sums")
    np.save(place / "moved.npy", copied)
    answer = ask(wrong_shift, "why y[1, 0] against golden.npy transfer3=moved.npy")
    text = answer_text(answer).replace(f"{place}/", "")
    assert text.startswith("y[1, 0] = 5608, golden.npy has 1321"), "the tensor is compared first"
    record = run.session.causes.record(whole=True)
    (cause,) = run.session.causes.causes_of("y[1, 0]")
    other = copied.copy()
    other[1, 0] += 1
    for array, equal in ((copied, True), (other, False)):
        good = reference(run.session, "transfer 3", "moved.npy", array)
        verdict = Comparison(record, [good], within=0.0).verdict(cause)
        assert verdict is not None
        assert (verdict.name, verdict.equal) == ("transfer 3[1, 0]", equal)
        assert (verdict.found, verdict.expected) == (5608, array[1, 0])


def test_arrays_by_name_in_one_file(wrong_shift):
    _, place = wrong_shift
    arrays = {name: np.load(place / f"{file}.npy") for name, file in (
        ("y", "golden"), ("hidden", "golden_hidden"), ("x", "x"),
    )}  # fmt: skip
    np.savez(place / "all.npz", **arrays)
    text = answer_text(ask(wrong_shift, "why y[1, 0] against all.npz"))
    assert "the first difference is hidden[1, 2], made by" in text
    assert f"{place / 'all.npz'}:hidden has 18" in text


def test_differences_that_are_allowed(wrong_shift):
    text = answer_text(ask(wrong_shift, "why y[1, 0] against golden.npy within 10000"))
    assert " agrees with " in text
    text = answer_text(ask(wrong_shift, "why y[1, 0] against golden.npy within 4000"))
    assert "the first difference is y[1, 0]" in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("why y against x.npy", "y is int32, 4 x 4, .*x.npy holds int8, 4 x 16"),
        ("why y[1, 0] against x.npy", "y is int32, 4 x 4, .*x.npy holds int8, 4 x 16"),
        ("why y against missing.npy", "cannot read .*missing.npy: .*"),
        ("why y against missing.npz", "cannot read .*missing.npz: .*"),
        ("why y against golden.npy hidden", "'hidden' is no NAME=FILE"),
        ("why y against golden.npy w1=x.npy", "w1 is no place to compare with .*: it names no numbers"),
        ("why y against golden.npy foo=x.npy", "foo is no place to compare with .*: nothing is called 'foo'.*"),
        ("why y against golden.npy y+1=x.npy", "y.1 is no place to compare with .*"),
        ("why y against golden.npy within y", "within takes a number, 0 or more"),
        ("why y against golden.npy within -1", "within takes a number, 0 or more"),
        ("why pe[0,0].0.acc0 against golden.npy", r"pe\[0,0\].0.acc0 is int64, .*holds int32, 4 x 4"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared(wrong_shift, line, message):
    answer = ask(wrong_shift, line)
    assert answer.kind == "error"
    assert re.fullmatch(message, answer.message), answer.message


def test_within_alone_is_refused(wrong_shift):
    answer = wrong_shift[0].execute("why y within 1")
    assert answer.message == "within needs against FILE"


def test_an_archive_that_is_none(wrong_shift):
    (wrong_shift[1] / "none.npz").write_bytes(b"PK\3\4 no archive")
    answer = ask(wrong_shift, "why y against none.npz")
    assert answer.message.startswith(f"{wrong_shift[1] / 'none.npz'} is no .npz file that can be")
    assert answer.hint == "write it with numpy.savez"


def test_a_value_without_an_array_is_refused(wrong_shift):
    run, place = wrong_shift
    other = reference(run.session, "hidden", "h", np.load(place / "golden_hidden.npy"))
    with pytest.raises(CauseError, match="no array says what y should be"):
        walk_back(run.session.causes, "y", [other], within=0.0)
    with pytest.raises(CauseError, match="h holds no numbers"):
        reference(run.session, "y", "h", np.array(["text"]))


SCALAR = """
        .core cp
_start: la   a0, numbers
        lw   a1, 0(a0)
        addi a2, a1, 5
        slli a3, a2, 1
        la   a4, y
        sw   a3, (a4)
        li   a7, 93
        li   a0, 0
        ecall
        .data
numbers: .word 6, 7
        .output y, int32, 1
"""


def test_registers_are_compared_too():
    """A reference may be a register: if a2 should be 10, the walk goes on to the addi that sets a2.

    If a2 equals its reference, the walk ends at the shift that uses a2.
    """
    run = of_source(SCALAR)
    run.cont()
    y = reference(run, "y", "y.npy", np.array([20]))
    walk = walk_back(run.causes, "y", [y, reference(run, "cp.a2", "a2", np.array(10))], within=0.0)
    assert [x.verdict.name for x in walk.stages] == ["y[0]", "cp.a2"]
    assert walk.first.steps[0].cause.instruction == "addi a2, a1, 5"
    walk = walk_back(run.causes, "y", [y, reference(run, "cp.a2", "a2", np.array(11))], within=0.0)
    assert [x.verdict.name for x in walk.stages] == ["y[0]"]
    assert [x.cause.instruction for x in walk.first.steps][:2] == ["sw a3, 0(a4)", "slli a3, a2, 1"]
    (agreement,) = walk.first.agreements
    assert agreement.elements == ["cp.a2"]
    assert agreement.last is not None
    assert agreement.last.instruction == "addi a2, a1, 5"


def test_the_stream_of_a_window_is_compared():
    """The bytes that leave nnp by NetOutQ are compared in their order."""
    run = session("nnp_mlp")
    run.cont()
    right = run.read("y").astype(np.float32)
    wrong = right.copy()
    wrong[0, 3] += 1
    y = reference(run, "y", "y.npy", wrong)
    out = reference(run, "netout", "out.npy", right)
    assert out.window == "netout of nnp"
    walk = walk_back(run.causes, "y[0, 3]", [y, out], within=0.0)
    assert [x.verdict.name for x in walk.stages] == ["y[0, 3]"], "the queue is right"
    (agreement,) = walk.first.agreements
    assert agreement.elements == ["netout[0, 3]"]
    walk = walk_back(
        run.causes, "y[0, 3]", [y, reference(run, "nnp.netout", "out.npy", wrong)], within=0.0
    )
    assert [x.verdict.name for x in walk.stages] == ["y[0, 3]", "nnp.netout[0, 3]"]
    assert walk.first.cause.how == "v_wr"


def test_what_nobody_wrote_leads_to_its_neighbours():
    """If no instruction wrote a wrong element, `why` names the sw that wrote the element before it.

    Here the loop ends one round too early, so y[3] is not written and y[2] is the last one.
    """
    run = of_source("""
        .core cp
_start: la   a4, y
        li   a3, 3
loop:   sw   a3, (a4)
        addi a4, a4, 4
        addi a3, a3, -1
        bnez a3, loop
        li   a7, 93
        li   a0, 0
        ecall
        .output y, int32, 4
""")
    run.cont()
    walk = walk_back(
        run.causes, "y", [reference(run, "y", "y.npy", np.array([3, 2, 1, 7]))], within=0.0
    )
    ((end, near),) = walk.first.unwritten
    assert end.name == "y[3]"
    assert [x.instruction for x in near] == ["sw a3, 0(a4)"]
    text = list(lines(walk, "y"))
    assert text[0] == "y[3] = 0, y.npy has 7: there from the start"
    assert "nothing wrote y[3], but next to it" in text


def test_of_many_writes_the_nearest_on_each_side_are_neighbours():
    """For an element that was not written, `why` names the nearest written element on each side.

    Of 120 elements, every twentieth is written, except y[60].
    """
    stores = "\n".join(f"        sw   a3, {4 * (n - 60)}(a4)" for n in (40, 80, 20, 100, 0, 119))
    run = of_source(f"""
        .core cp
_start: la   a4, y+240
        li   a3, 3
{stores}
        li   a7, 93
        li   a0, 0
        ecall
        .output y, int32, 120
""")
    run.cont()
    wanted = np.where(np.isin(np.arange(120), [0, 20, 40, 80, 100, 119]), 3, 0)
    wanted[60] = 7
    walk = walk_back(run.causes, "y", [reference(run, "y", "y.npy", wanted)], within=0.0)
    ((end, near),) = walk.first.unwritten
    assert end.name == "y[60]"
    assert [x.instruction for x in near] == ["sw a3, -80(a4)", "sw a3, 80(a4)"]


def test_the_search_visits_at_most_so_many_causes(wrong_shift, monkeypatch):
    """A search that visits exactly the greatest number of causes is complete."""
    visits: list[
        list[Any]
    ] = []  # for each stage: its steps, and the number of causes that its search has visited
    add_step = against._add_step

    def counted(steps, cause):
        if not visits or visits[-1][0] is not steps:
            visits.append([steps, 0])
        visits[-1][1] += 1
        add_step(steps, cause)

    monkeypatch.setattr(against, "_add_step", counted)
    line = "why y[1, 0] against golden.npy hidden=golden_hidden.npy x=x.npy"
    assert ask(wrong_shift, line).json()["data"]["complete"]
    most = max(count for _, count in visits)
    for limit, complete in ((most, True), (most - 1, False)):
        monkeypatch.setattr(against, "MOST", limit)
        assert ask(wrong_shift, line).json()["data"]["complete"] == complete
