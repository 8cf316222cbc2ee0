"""The text of causes that the test builds by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.debugger.causes import against_text
from macaw.debugger.causes.against import Agreement, Stage, Step, Walk
from macaw.debugger.causes.cause_text import DEEPEST, WIDTH, lines, step_text, tree
from macaw.debugger.causes.finder import COPIED, Cause
from macaw.debugger.causes.references import Reference, Verdict
from macaw.debugger.stops import Where


def cause(role: str, name: str, how: str, *causes: Cause, **words: Any) -> Cause:
    """Make a cause with this role, name and instruction, whose own causes are `causes`."""
    made = Cause(role, name, words.pop("value", None), how, **{"core": "cp", "cycle": 7, **words})
    made._causes = list(causes)
    return made


def begin(role: str = "rs1") -> Cause:
    return cause(role, "cp.x1", "begin")


def at(line: int) -> Where:
    return Where("cp", 0x80, "p.s", line, "_start")


def test_makers_of_a_setting_are_its_computed_values() -> None:
    """The makers of a setting are the values computed for it.

    Copies and other settings are no makers. Two values of one line count as one.
    """
    copied = cause("length", "cp.a2", "mv", cause(COPIED, "cp.a5", "program"), where=at(5))
    computed = [cause("high", f"cp.a{n}", "add", begin(), where=at(3 + n // 2)) for n in range(3)]
    mode = cause("mode", "pe.mode", "write", begin(), setting=True, where=at(9))
    setting = cause("mask", "pe.mask", "write", *computed, copied, mode, setting=True)
    assert list(lines([cause("y", "y", "mac", setting)])) == [
        "y: cp mac at cycle 7",
        "  with mask of pe.mask: cp write at cycle 7",
        "    high cp.a0: cp add at cycle 7, 0x00000080 p.s:3",
        "    high cp.a2: cp add at cycle 7, 0x00000080 p.s:4",
    ]


def test_a_setting_that_is_only_copied_has_no_lines_below() -> None:
    data = cause("data", "cp.a1", "mv", cause(COPIED, "w", "program"))
    setting = cause("mask", "pe.mask", "write", data, setting=True)
    assert list(lines([setting], 3)) == ["with mask of pe.mask: cp write at cycle 7"]
    several = cause("mask", "pe.mask", "write", data, cause("b", "q", "add", begin()), setting=True)
    assert len(list(lines([several]))) == 2


def test_settings_are_shown_once_before_the_data() -> None:
    mask = cause("mask", "pe.mask", "program", setting=True, value=3)
    seen = cause("imm", "", "instruction", setting=True, value=4)
    inner = cause("a", "x[0]", "mac", mask, begin("b"), value=1, instruction="mac a, b")
    outer = cause("y", "y", "add", begin("c"), mask, seen, inner, instruction="add y", value=2)
    assert list(lines([outer])) == [
        "y = 2: cp add: add y at cycle 7",
        "  with mask = 3 of pe.mask: of the program",
        "  c cp.x1: there from the start",
        "  a x[0] = 1: cp mac: mac a, b at cycle 7",
        "    b cp.x1: there from the start",
    ]


def chain(length: int) -> Cause:
    made = begin()
    for number in range(length):
        made = cause("rs1", f"cp.x{number}", "addi", made)
    return made


def test_depth_counts_steps_back() -> None:
    assert [line.strip() for line in lines([chain(3)], 1)] == [
        "rs1 cp.x2: cp addi at cycle 7", "rs1 cp.x1: cp addi at cycle 7", "...",
    ]  # fmt: skip
    assert list(lines([chain(2)], 0)) == ["rs1 cp.x1: cp addi at cycle 7", "  ..."]
    assert len(list(lines([chain(DEEPEST)], DEEPEST))) == DEEPEST + 1
    (record,) = tree([chain(3)], 2)
    below = record["causes"][0]["causes"][0]
    assert "causes" not in below
    assert below["deeper"]
    assert "deeper" not in tree([begin()], 0)[0]


def test_at_most_twelve_causes_of_a_step_are_shown() -> None:
    many = [cause("weight", f"w[{n}]", "program") for n in range(WIDTH + 2)]
    said = list(lines([cause("y", "y", "mac", *many)]))
    assert said[-2:] == [f"  weight w[{WIDTH - 1}]: of the program", "  and 2 more"]
    assert len(list(lines([cause("y", "y", "mac", *many[:WIDTH])]))) == WIDTH + 1


def test_the_text_of_a_step() -> None:
    where = Where("cp", 0x80000004, "p.s", 3, "loop+4", "conv")
    by = cause("a", "b", "transfer 1", by="cp", core="dma", instruction="dma.copy a0")
    assert step_text(by) == "dma transfer 1 of cp at cycle 7"
    packet = cause("a", "b", "mac", instruction="packet mac x", is_mnemonic=True, where=where)
    assert step_text(packet) == "cp mac x at cycle 7, 0x80000004 p.s:3, layer conv"
    timeless = cause("a", "b", "mac", where=Where("cp", 0), cycle=None)
    assert step_text(timeless) == "cp mac, 0x00000000"
    data = cause("a", "b", "program", where=where)
    assert step_text(data) == "of the program p.s:3 (loop+4)"
    changed = cause("a", "b", "set", cycle=1234, by="set a0 = 1")
    assert step_text(changed) == "set by hand at cycle 1,234, set a0 = 1"
    assert step_text(cause("a", "b", "set", cycle=1234)) == "set by hand at cycle 1,234"


# --- why ... against ---


def verdict(number: int, found: object, *, equal: bool = False) -> Verdict:
    array = np.arange(8)
    return Verdict(Reference("t", "t.npy", array, array.dtype), equal, 1, 1, number, found, 9)


def test_the_text_of_a_value_that_agrees() -> None:
    walk = Walk([], checked=verdict(1, 9, equal=True))
    assert list(against_text.lines(walk, "y[1]")) == ["y[1] agrees with t.npy"]


def test_the_text_of_a_walk() -> None:
    """The text of a walk back equals one written by hand.

    The walk has two stages, steps with several values, agreements, and values without a reference.
    """
    write = cause("y", "y", "sw", instruction="sw a0", is_mnemonic=True, cycle=20)
    earlier = cause("t", "t", "begin")
    setting = cause("mask", "pe.mask", "program", setting=True)
    last = Stage(write, verdict(1, None))
    last.steps = [Step(write, {1: setting}, 3)]
    first = Stage(earlier, verdict(2, 5))
    first.steps = [Step(write)] * 25
    reference = Reference("u", "u.npy", np.arange(3), np.dtype("int64"))
    first.agreements = [
        Agreement(reference, ["u[0]"], 1),
        Agreement(reference, ["u[0]", "u[1]"], 2, write),
        Agreement(reference, ["u[0]", "u[1]", "u[2]"], 5, begin()),
    ]
    first.unknown = [
        cause("in", f"v[{n}]", "input", where=at(n) if n > 1 else None) for n in range(10)
    ]
    first.unknown += [cause("z", "", "window"), begin(), cause("i", "", "instruction")]
    near = cause("near it", "q", "write", setting, cycle=3)
    first.unwritten = [(begin(), [near]), (earlier, [near]), (write, []), (near, [write])]
    walk = Walk([last, first], is_complete=False)
    assert list(against_text.lines(walk, "y")) == [
        "t[1] = other bytes, t.npy has 9: cp sw a0 at cycle 20",
        "  t[2] = 5, t.npy has 9: there from the start",
        "the first difference is t[2], made by",
        *["  cp sw a0 at cycle 20"] * 24,
        "  and 1 more steps",
        "it was read by",
        "  cp sw a0 at cycle 20 (3 values)",
        "    with mask of pe.mask: of the program",
        "nothing wrote cp.x1, but next to it",
        "  cp write at cycle 3",
        "    with mask of pe.mask: of the program",
        "nothing wrote y",
        "u[0] agrees with u.npy",
        "u[0], u[1] agree with u.npy, last cp sw a0 at cycle 20",
        "u[0], u[1], u[2] and 2 more agree with u.npy, last there from the start",
        "not compared",
        "  v[0]", "  v[1]", *(f"  v[{n}] p.s:{n}" for n in range(2, 8)),
        "  and 3 more",
        "the way is longer; name more places to compare",
    ]  # fmt: skip


def test_a_walk_without_agreements() -> None:
    written = Stage(cause("y", "y", "sw"), verdict(0, 1))
    written.steps = [Step(written.cause)]
    assert list(against_text.lines(Walk([written]), "y")) == [
        "t[0] = 1, t.npy has 9: cp sw at cycle 7",
        "the first difference is t[0], made by",
        "  cp sw at cycle 7",
        "nothing before it could be compared",
    ]
