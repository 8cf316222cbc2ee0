"""ARCHITECTURE.md: its paths exist, its arrows are the imports, it names each dependency, it is short."""

import re
import tomllib
from pathlib import Path

from docs import rooms

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
# Of the package of a room: the rooms that it may import, as the page says.
BELOW = {"isa": 0, "asm": 1, "emu": 2, "lowering": 3, "debugger": 3, "front": 4}


def test_every_path_exists() -> None:
    base = ROOT / "src/macaw/lowering"  # the list of places names its files alone
    paths = re.findall(r"`([\w./]+(?:\.py|/))`", TEXT) + re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len(paths) > 20
    assert [x for x in paths if not (ROOT / x).exists() and not (base / x).exists()] == []
    for path in re.findall(r"(?<![\w/`(])docs/[\w-]+\.md", TEXT):
        assert (ROOT / path).exists(), path


def test_imports_go_one_way() -> None:
    for room, others in rooms.imports().items():
        assert all(BELOW[other] < BELOW[room] for other in others), (room, others)


def test_what_lowering_imports_of_the_emulator_is_named() -> None:
    (row,) = (line for line in TEXT.splitlines() if line.startswith("| `lowering`"))
    named = [path.removesuffix(".py") for path in re.findall(r"`(emu/[\w./]+)`", row)]
    statement = re.compile(r"^ *from macaw\.(emu(?:\.[\w.]+| import \w+))", re.M)
    used = {
        re.sub(r"\.| import ", "/", module)
        for path in (ROOT / "src/macaw/lowering").rglob("*.py")
        for module in statement.findall(path.read_text("utf-8"))
    }
    covered = {x: [y for y in named if f"{x}/".startswith(f"{y}/")] for x in used}
    assert [x for x, names in covered.items() if not names] == []
    assert {name for names in covered.values() for name in names} == set(named)


def test_each_dependency_is_named_with_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = {
        re.split(r"[<>=]", text)[0]
        for group in (project["dependencies"], *extras)
        for text in group
    }
    table = TEXT[TEXT.index("## Dependencies") :].lower()
    missing = {"tensorflow-cpu", "torch", "types-pygments"}  # by other names there
    assert {name for name in wanted - missing if name.lower() not in table} == set()


def test_it_is_two_pages() -> None:
    lines = TEXT.splitlines()
    assert len(lines) <= 110
    for line in lines:
        if not line.startswith("|"):
            assert len(line) <= 120, line
        assert all(len(cell) <= 150 for cell in line.split("|")), line
