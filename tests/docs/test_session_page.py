"""docs/session.md: the bisection prints what the page shows; each call of the page exists."""

from __future__ import annotations

import re
import shutil
import textwrap

from docs.shown import ROOT, page
from tests.debugger.programs import of_source

TEXT = page("session").read_text("utf-8")
FOLDER = ROOT / "programs" / "wrong_shift"


def test_the_bisection_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    part = TEXT.split("## Bisection over cycles", 1)[1]
    code = part[part.index("    import numpy") : part.index("The script prints, after")]
    for name in ("wrong_shift.s", "x.npy", "w1.npy", "w2.npy", "golden_hidden.npy"):
        shutil.copy(FOLDER / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(textwrap.dedent(code), "session.md", "exec"), names)
    shown = part.split("after 8 steps:\n\n", 1)[1].split("\n\nThe script", 1)[0]
    assert capsys.readouterr().out.rstrip() == textwrap.dedent(shown).rstrip()


def test_the_calls_of_the_page_exist():
    table = TEXT.split("| to | call |", 1)[1].split("\n\n", 1)[0]
    names = set(re.findall(r"`(?:with session\.)?([a-z]\w+)[(`]", table))
    assert len(names) > 30
    session = of_source(".core cp\n_start: ebreak\n")
    assert [name for name in sorted(names) if not hasattr(session, name)] == []
