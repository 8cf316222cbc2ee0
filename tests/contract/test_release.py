"""`make release` makes equal sdists: two archives of equal files become equal bytes."""

from __future__ import annotations

import datetime
import os
import re
import tarfile
from pathlib import Path

import pytest

import macaw
from tests.release import PYTHONS, SOURCES, repack

ROOT = Path(__file__).parents[2]


def archive(path: Path, names: list[str], date: int, mode: int) -> None:
    folder = path.parent / f"from-{path.stem}"
    folder.mkdir()
    for name in names:
        file = folder / name
        file.write_text(f"text of {name}\n")
        file.chmod(mode)
        os.utime(file, (date, date))
    with tarfile.open(path, "w:gz") as out:
        for name in names:
            out.add(folder / name, f"macaw/{name}")


def test_archives_of_equal_files_become_equal(tmp_path: Path) -> None:
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    archive(one, ["a", "b"], 1_000_000_000, 0o644)
    archive(two, ["b", "a"], 1_700_000_000, 0o600)
    assert one.read_bytes() != two.read_bytes()
    for path in (one, two):
        repack(path, 1_600_000_000)
    assert one.read_bytes() == two.read_bytes()
    with tarfile.open(one) as made:
        assert made.getnames() == ["macaw/a", "macaw/b"]
        file = made.extractfile("macaw/b")
        assert file is not None
        assert file.read() == b"text of b\n"
        assert {(x.mtime, x.uid, x.gid, x.mode) for x in made} == {(1_600_000_000, 0, 0, 0o644)}


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_release_is_made_of_is_there(name: str) -> None:
    assert (ROOT / name).exists()


def test_the_version_stands_in_one_place_and_the_others_agree() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert "\nversion =" not in project.partition("[tool.")[0]
    assert 'version = {attr = "macaw.__version__"}' in project
    assert f"\nversion: {macaw.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## (\S+)(?: \((.*)\))?$", changes, re.M)
    version, date = next(section for section in sections if section[0] != "Unreleased")
    assert version == macaw.__version__
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\ndate-released: {datetime.date.fromisoformat(date)}\n" in cited
    assert (ROOT / "tests" / "compatibility" / macaw.__version__).is_dir()


def test_a_release_is_tried_on_each_python_that_is_promised() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for python in PYTHONS:
        version = python.removeprefix("python")
        assert f'"Programming Language :: Python :: {version}"' in project
