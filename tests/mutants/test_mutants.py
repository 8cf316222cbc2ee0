"""The mutants' tool: what it changes, which tests it chooses, mutants killed and surviving."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.mutants import __main__ as tool
from tests.mutants import copies, serving
from tests.mutants.choosing import Choice, Chooser, Lines, drawn
from tests.mutants.mutations import KINDS, Mutant, legal, mutants
from tests.mutants.paths import ROOMS, ROOT

MODULE = '''\
"""Text with 1 < 2 is never changed."""

from __future__ import annotations

LIMIT = 3
PAIR: tuple[int, int] = (1, 2)


def clipped(value: int, most: int = 7, loud: bool = False) -> int:
    """1 + 1."""
    if value > most and not loud:
        raise ValueError(f"{value + 1} is more than {most}")
    rows = [1, 2, 3][1:]
    for row in rows:
        if row == 2:
            break
    total = value * 2 + LIMIT
    total += 1
    rows.append(total)
    return total


if __name__ == "__main__":
    print(1 + 1)
'''


def changes(kind: str) -> list[str]:
    found = [each for each in mutants("m.py", MODULE) if each.kind == kind]
    return [each.diff(MODULE).splitlines()[-1][1:].strip() for each in found if legal(each, MODULE)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("comparison", ["if (value >= most) and not loud:", "if (row != 2):"]),
        ("boolean", ["if (value > most or not loud):", "if value > most and (loud):"]),
        ("condition", ["if (not (value > most and (not loud))):", "if (not (row == 2)):"]),
        (
            "arithmetic",
            ["total = (value * 2 - LIMIT)", "total = (value + 2) + LIMIT", "total -= 1"],
        ),
        ("removal", ["pass", "pass", "pass"]),
        ("jump", ["continue"]),
        ("return", ["return None"]),
        ("slice", ["rows = [1, 2, 3][:]"]),
        (
            "default",
            [
                "def clipped(value: int, most: int = (8), loud: bool = False) -> int:",
                "def clipped(value: int, most: int = (6), loud: bool = False) -> int:",
                "def clipped(value: int, most: int = 7, loud: bool = (True)) -> int:",
            ],
        ),
    ],
)
def test_each_kind_changes_what_it_should_and_nothing_else(kind: str, expected: list[str]) -> None:
    assert changes(kind) == expected


def test_constants_go_up_and_down_but_no_text_changes() -> None:
    found = changes("constant")
    assert found[:2] == ["LIMIT = (4)", "LIMIT = (2)"]
    assert len(found) == 2 * 10  # 3, (1, 2), [1, 2, 3], 1:, == 2, * 2 and += 1
    assert not [line for line in found if "Text" in line or "more than" in line or "print" in line]


def test_a_function_says_where_it_starts_and_a_statement_what_it_names() -> None:
    found = mutants("m.py", MODULE)
    assert {each.functions for each in found} == {(), (9,)}
    assert {each.names for each in found if not each.functions} == {("LIMIT",), ("PAIR",)}


def test_what_is_drawn_is_the_same_for_a_seed_and_legal(tmp_path: Path) -> None:
    (tmp_path / "src/macaw/isa").mkdir(parents=True)
    (tmp_path / "src/macaw/isa/m.py").write_text(MODULE, "utf-8")
    first, again = (drawn(tmp_path, "isa", 20, 7) for _ in range(2))
    assert first == again
    assert first != drawn(tmp_path, "isa", 20, 8)
    assert len({(each.start, each.end, each.new) for each in first}) == 20
    assert {each.kind for each in first} <= set(KINDS)
    assert all(legal(each, MODULE) for each in first)


def test_only_the_named_modules_are_changed(tmp_path: Path) -> None:
    for name in ("isa/rows.py", "isa/pe/cells.py", "emu/pe.py"):
        (tmp_path / "src/macaw" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src/macaw" / name).write_text(MODULE, "utf-8")

    def paths(room: str, *modules: str) -> set[str]:
        return {each.path for each in drawn(tmp_path, room, 40, 7, modules)}

    assert paths("isa") == {"src/macaw/isa/rows.py", "src/macaw/isa/pe/cells.py"}
    assert paths("isa", "isa/pe") == {"src/macaw/isa/pe/cells.py"}
    assert paths("isa", "isa/rows.py", "emu") == {"src/macaw/isa/rows.py"}
    assert paths("isa", "emu") == set()
    assert tool.rooms_of(None, ()) == list(ROOMS)
    assert tool.rooms_of("asm", ("emu/pe",)) == ["asm"]
    assert tool.rooms_of(None, ("emu/pe", "cli.py", "isa", "emu/dma")) == ["isa", "emu", "macaw"]


def test_a_map_may_be_of_some_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, str]] = []
    monkeypatch.setattr(copies, "LINES", tmp_path / "lines")
    monkeypatch.setattr(copies, "copy_tree", lambda: None)
    monkeypatch.setattr(copies, "folders_of_tests", lambda: ["programs", "tests/asm"])
    monkeypatch.setattr(
        copies, "record_folder", lambda _tree, tests, file: ran.append((tests, file.name))
    )
    copies.record(["tests/emu", "tests/macaw/test_run.py"])
    assert ran == [("tests/emu", "0.npz"), ("tests/macaw/test_run.py", "1.npz")]
    (tmp_path / "lines" / "0.npz").write_bytes(b"of an earlier map")
    ran.clear()
    monkeypatch.setattr(sys, "argv", ["tests.mutants", "--map"])
    assert tool.main() == 0
    assert [tests for tests, _ in ran] == ["programs", "tests/asm"]
    assert not list((tmp_path / "lines").iterdir())


def test_every_module_of_the_product_has_mutants_that_can_be_applied() -> None:
    for folder in ("isa", "asm", "emu", "debugger", "src/macaw"):
        for file in sorted((ROOT / folder).rglob("*.py"))[::8]:
            text = file.read_text("utf-8")
            found = mutants(str(file.relative_to(ROOT)), text)
            for each in found[:: max(1, len(found) // 3)]:
                assert each.applied(text) != text


TESTS = """\
from macaw.emu.m import clipped


def test_small():
    assert clipped(1) == 6
    assert clipped.__defaults__ == (7, False)


def test_of_another_thing():
    assert True
"""


# Python has `sys.monitoring` since 3.12; CI runs these tests there.
needs_monitoring = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="recording needs sys.monitoring"
)


def recorded_lines(tree: Path, tests: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a tree with MODULE and these tests, record the lines; return the recording's folder."""
    for name, text in {
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib -p no:macaw"\npythonpath = ["src", "."]\nmarkers = ["once"]\n',
        "src/macaw/__init__.py": "",
        "src/macaw/emu/__init__.py": "",
        "src/macaw/emu/m.py": MODULE,
        "tests/emu/test_m.py": tests,
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, "utf-8")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    lines = tree / "lines"
    lines.mkdir()
    copies.record_folder(tree, "tests", lines / "tests.npz", extra=ROOT)
    return lines


@needs_monitoring
@pytest.mark.may_skip_in_ci
def test_a_mutant_is_ended_by_the_test_that_executes_it_and_another_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = recorded_lines(tmp_path, TESTS, monkeypatch)
    chooser = Chooser(tmp_path, Lines(lines))

    def choice(kind: str, number: int = 0) -> Choice:
        found = [each for each in mutants("src/macaw/emu/m.py", MODULE) if each.kind == kind]
        return chooser.choice(found[number])

    choices = [choice("arithmetic"), choice("removal"), choice("constant"), choice("default", 2)]
    assert choices[0].tests == ("tests/emu/test_m.py::test_small",)
    assert [each.afresh for each in choices] == [False, False, True, False]
    said = tool.judged(choices, tmp_path, tmp_path / "jobs.json", extra=ROOT)
    assert said[0] == "tests/emu/test_m.py::test_small"
    assert said[1] == ""  # the raise is never reached
    assert said[2].startswith("tests/emu/test_m.py::test_small")
    assert said[3] == "tests/emu/test_m.py::test_small"
    assert (tmp_path / "src/macaw/emu/m.py").read_text("utf-8") == MODULE


MORE_TESTS = """
def test_twin():
    assert clipped(1) == 6


def test_limit():
    try:
        clipped(9)
    except ValueError:
        return
    assert False
"""


@needs_monitoring
@pytest.mark.may_skip_in_ci
def test_what_a_test_alone_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = recorded_lines(tmp_path, TESTS + MORE_TESTS, monkeypatch)

    def lost(test: str) -> set[tuple[str, str]]:
        chooser = Chooser(tmp_path, Lines(lines), [f"tests/emu/test_m.py::{test}"])
        found = chooser.executed_by_left_out(100, 1)
        assert {each.path for each in found} == {"src/macaw/emu/m.py"}
        lost = tool.losses(chooser, found, tmp_path / "jobs.json", extra=ROOT)
        assert {name for _, name in lost} <= {f"tests/emu/test_m.py::{test}"}
        return {(each.kind, MODULE.splitlines()[each.lines[0] - 1].split()[0]) for each, _ in lost}

    assert lost("test_twin") == set()
    assert lost("test_limit") == {("boolean", "if"), ("removal", "raise")}


def test_defaults_are_read_by_the_first_line_of_their_function() -> None:
    text = "@f\ndef g(a, b=-1, *, c=2, d='x', e):\n    return [1]\n"
    assert serving.defaults(text) == {1: ([-1], {"c": 2})}
    assert serving.defaults("def g(a='x', b=True): pass") == {1: ([None, True], {})}


def test_a_mutant_changes_bytes_and_not_characters() -> None:
    text = 'NAME = "×µ"; LIMIT = 3\n'
    (up, _down) = mutants("m.py", text)
    assert isinstance(up, Mutant)
    assert up.applied(text) == 'NAME = "×µ"; LIMIT = (4)\n'


def test_a_killed_process_leaves_no_mutant(tmp_path):
    """`recover` restores the file that a killed process left changed, with its time."""
    (tmp_path / "room").mkdir()
    file = tmp_path / "room" / "module.py"
    file.write_text("one = 1\n")
    before = file.stat().st_mtime_ns
    with copies.written(tmp_path, "room/module.py", "one = 2\n"):
        assert file.read_text() == "one = 2\n"
        kept = file.with_name("module.py.original").read_bytes()
    assert list(file.parent.iterdir()) == [file]
    assert (file.read_text(), file.stat().st_mtime_ns) == ("one = 1\n", before)
    file.with_name("module.py.original").write_bytes(kept)  # as a killed process leaves it
    file.write_text("one = 2\n")
    copies.recover(tmp_path)
    assert list(file.parent.iterdir()) == [file]
    assert file.read_text() == "one = 1\n"


def test_a_name_that_is_no_test_of_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "LINES", tmp_path)
    with pytest.raises(SystemExit, match=r"no test of the map is one of these: tests/none\.py"):
        tool.print_losses(["tests/none.py"], 1, 1)
