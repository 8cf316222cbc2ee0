"""Options of `macaw test` (-j, -k, --junit) and of pytest (--macaw-update)."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from _pytest.mark.expression import Expression

from macaw import name_expression
from macaw.errors import InputError
from tests.macaw.conftest import Macaw

EXIT = ".core cp\nli a7, 93\nli a0, {code}\necall\n"
NAMES = ("conv_a", "conv_b", "gru")


@pytest.fixture
def folders(macaw: Macaw, tmp_path: Path) -> Path:
    """Three recorded golden folders; then the second is made to differ, and the third to fail."""
    for code, name in enumerate(NAMES):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.s").write_text(EXIT.format(code=code))
        (tmp_path / name / "golden.toml").write_text('source = "p.s"\n')
    assert macaw("test", "--update", *NAMES).returncode == 0
    (tmp_path / "conv_b" / "p.s").write_text(EXIT.format(code=7))
    (tmp_path / "gru" / "p.s").write_text("frobnicate\n")
    return tmp_path


@pytest.mark.once
def test_processes_print_the_same(macaw: Macaw, folders: Path) -> None:
    one, two = macaw("test", "."), macaw("test", "-j", "2", ".")
    assert (one.returncode, one.stdout) == (two.returncode, two.stdout)
    assert one.returncode == 2
    assert re.sub("(?m)^  .*\n", "", one.stdout) == (
        "ok       conv_a\nDIFFERS  conv_b\nWRONG    gru\n1 passed, 2 failed\n"
    )
    assert "no option" not in macaw("test", "--jobs", "1", "conv_a").stderr
    wrong = macaw("test", "-j", "0", ".")
    assert wrong.returncode == 2
    assert "0 is not in the range x>=1" in wrong.stderr


def test_a_word_chooses_folders(macaw: Macaw, folders: Path) -> None:
    done = macaw("test", "-k", "CONV and not b", ".")
    assert (done.returncode, done.stdout) == (
        0,
        "ok       conv_a\n1 passed, 0 failed, 2 deselected\n",
    )
    none = macaw("test", "-k", "lstm", ".")
    assert none.returncode == 2
    assert "-k 'lstm' matches none of 3 golden tests" in none.stderr
    assert "a word is part of a path, as conv_a" in none.stderr


EXPRESSIONS = (
    "", " ", "conv", "CONV", "conv_a or gru", "not conv", "not not conv", "conv and b", "conv and not b",
    "gru or conv and b", "(gru or conv) and b", "not (gru or b)", "a and b or not g", "programs/conv",
    "andy", "not(gru)", "[1-2.5]", "a+b:c",
)  # fmt: skip
MISTAKES = (
    "and",
    "conv and",
    "(conv",
    "conv)",
    "conv gru",
    "not",
    "()",
    "conv & gru",
    "or conv",
    "'a",
)


def contains(name: str, word: str, /, **_keywords: object) -> bool:
    return word.lower() in name


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_mean_what_they_mean_to_pytest(text: str) -> None:
    """Expressions of `-k` have pytest's meaning; pytest's own parser is the witness."""
    chosen = name_expression.parse(text)
    for name in ("programs/conv_a", "programs/conv_b", "gru", "andy[1-2.5]", "a+b:c"):
        if text.strip():
            witness = Expression.compile(text).evaluate(partial(contains, name))
        else:
            witness = True
        assert chosen(name) is witness, name


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_an_expression(text: str) -> None:
    with pytest.raises(SyntaxError):
        Expression.compile(text)
    with pytest.raises(InputError, match=r"^-k '.*': column \d+: (expected|unexpected character)"):
        name_expression.parse(text)


def test_mistakes_have_columns(macaw: Macaw, folders: Path) -> None:
    done = macaw("test", "-k", "conv and", ".")
    assert done.returncode == 2
    assert "-k 'conv and': column 9: expected a word, 'not' or '(', got the end" in done.stderr
    with pytest.raises(InputError, match="column 6: expected 'and', 'or' or the end, got 'gru'"):
        name_expression.parse("conv gru")
    with pytest.raises(InputError, match=r"column 6: expected '\)', got the end"):
        name_expression.parse("(conv")
    with pytest.raises(InputError, match="column 6: unexpected character '&'"):
        name_expression.parse("conv & gru")
    with pytest.raises(InputError, match="column 101: more than 100 levels"):
        name_expression.parse("(" * 5000)


def test_junit(macaw: Macaw, folders: Path) -> None:
    done = macaw("test", "--junit", "report.xml", ".")
    assert done.returncode == 2
    suite = ElementTree.parse(folders / "report.xml").getroot().find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == list(NAMES)
    assert {case.get("classname") for case in suite} == {"."}
    assert list(cases["conv_a"]) == []
    (failure,), (error,) = cases["conv_b"], cases["gru"]
    assert (failure.tag, failure.get("message")) == ("failure", "exit_code: expected 1, got 7 (+6)")
    assert error.tag == "error"
    assert "'frobnicate' is in no part" in str(error.text)
    times = [float(case.get("time", "")) for case in suite]
    assert abs(sum(times) - float(suite.get("time", ""))) < 0.01
    assert sum(times) > 0
    update = macaw("test", "--update", "--junit", "report.xml", "conv_b")
    assert update.returncode == 0
    suite = ElementTree.parse(folders / "report.xml").getroot().find("testsuite")
    assert suite is not None
    assert "exit_code: expected 1, got 7" in str(suite.findtext("testcase/system-out"))


def test_junit_has_no_character_that_xml_forbids(macaw: Macaw, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b\ufffe<b>"
    folder.mkdir()
    (folder / "golden.toml").write_text('source = "<&.s"\n')
    assert macaw("test", "--junit", "report.xml", ".").returncode == 2
    (case,) = ElementTree.parse(tmp_path / "report.xml").getroot().iter("testcase")
    assert case.get("name") == "a#x1B#xFFFE<b>"
    assert "<&.s" in str(case.findtext("error"))


@pytest.mark.parametrize("name", ["golden.toml", "p.s", "expected/run.json"])
def test_a_report_overwrites_no_file_of_a_test(macaw: Macaw, folders: Path, name: str) -> None:
    place = folders / "conv_a" / name
    before = place.read_bytes()
    done = macaw("test", "--junit", place, ".")
    assert done.returncode == 2
    assert "is an input: it is not overwritten" in done.stderr
    assert "--junit names another" in done.stderr
    assert place.read_bytes() == before


def test_a_report_that_cannot_be_written(macaw: Macaw, folders: Path) -> None:
    done = macaw("test", "--junit", "none/report.xml", "conv_a")
    assert done.returncode == 2
    assert "cannot write none/report.xml" in done.stderr


def test_a_recording_is_replaced_whole_or_not_at_all(
    macaw: Macaw, layer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert macaw("test", "--update", ".").returncode == 0
    folder = layer.parent / "expected"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (layer.parent / "golden.toml").write_text(
        (layer.parent / "golden.toml").read_text().replace("[inputs]", "jitter = 3\n[inputs]")
    )
    (folder / "run.json").unlink()
    (folder / "run.json").mkdir()  # cannot be replaced
    done = macaw("test", "--update", ".")
    assert done.returncode == 2
    assert (folder / "y.npy").read_bytes() == before["y.npy"]
    assert {path.name for path in folder.iterdir()} == {"run.json", "y.npy"}  # nothing temporary


# In pytest ---------------------------------------------------------------------------------------


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options, str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


@pytest.mark.once
def test_pytest_records(macaw: Macaw, folders: Path) -> None:
    """`--macaw-update` records in workers of xdist, too; the summary names what changed."""
    done = run_pytest(folders, "--macaw-update", "-n", "1")
    assert done.returncode == 1
    assert "'frobnicate' is in no part" in done.stdout  # it cannot be recorded
    assert "golden tests recorded" in done.stdout
    assert "conv_b/golden.toml::golden\n  exit_code: expected 1, got 7 (+6)\n" in done.stdout
    assert "conv_a/golden.toml" not in done.stdout
    assert macaw("test", ".").stdout.endswith("2 passed, 1 failed\n")


@pytest.mark.once
def test_pytest_fails_if_a_reference_differs(layer: Path) -> None:
    np.save(layer.parent / "r.npy", np.zeros(8))
    with (layer.parent / "golden.toml").open("a") as file:
        file.write('[expected]\ny = "r.npy"\n')
    done = run_pytest(layer.parent, "--macaw-update")
    assert done.returncode == 1
    assert "output y: 8 of 8 elements differ from r.npy" in done.stdout
    assert "golden.toml::golden\n  first recording\n" in done.stdout
