"""Writes docs/seeds.md and the pages in docs/seeds from the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from macaw.isa.markdown import wrap
from tests.seeds.table import SEEDS, STATES, Fact, facts, paragraphs, ranges

_MADE = "<!-- Made by `make docs` from tests/seeds. Edit the table there, not this page. -->"


def files() -> Mapping[str, str]:
    """The text of each page, by its path below the root of the tree."""
    pages = {f"docs/seeds/{seed}.md": _seed_page(seed) for seed in SEEDS}
    return {"docs/seeds.md": _index(), **pages}


def _index() -> str:
    lines = [
        _MADE,
        "# From the seeds to the tests",
        "",
        *_lines(
            "Macaw models five published designs. Each page below follows one of the documents "
            "paragraph by paragraph: what it states, whether Macaw does the same, the tests that "
            "show it, and a command with which you can see it."
        ),
        "",
        "| seed | subject |",
        "|---|---|",
        *(f"| [{seed}](seeds/{seed}.md) | {subject} |" for seed, subject in SEEDS.items()),
        "",
        *_lines(
            "¶N is the number printed before a paragraph of seeds 000, 002 and 004, and the Nth "
            "line that is not empty of seeds 001 and 003. A fact is in one of these states:"
        ),
        "",
        "| state | meaning |",
        "|---|---|",
        *(f"| {state} | {meaning} |" for state, meaning in STATES.items()),
        "",
        *_lines(
            "`python -m tests.seeds 004 46` prints the same for one paragraph, `004 40-50` for "
            "several. Commands run from the root of the repository. The tests in tests/seeds check "
            "that no paragraph is missing, that each test exists and names its paragraph, and that "
            "each command prints what the table says."
        ),
        "",
        "Words of the field and of Macaw: [glossary.md](glossary.md).",
    ]
    return "\n".join(lines) + "\n"


def _seed_page(seed: str) -> str:
    rows = facts(seed)
    counts = Counter(fact.state for fact in rows)
    total = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    lines = [
        _MADE,
        f"# Seed {seed}: {SEEDS[seed]}",
        "",
        *_lines(
            f"The seed has {len(paragraphs(seed))} paragraphs. This page has {len(rows)} entries about "
            f"them: {total}. [seeds.md](../seeds.md) says what these words mean."
        ),
    ]
    last: tuple[int, ...] = ()
    for fact in sorted(rows, key=lambda fact: fact.paragraphs[0]):
        if fact.paragraphs != last:
            lines += ["", f"## ¶{ranges(fact.paragraphs)}", ""]
        last = fact.paragraphs
        lines += entry(fact)
    lines += ["", "Words of the field and of Macaw: [the glossary](../glossary.md)."]
    return "\n".join(lines) + "\n"


def entry(fact: Fact) -> list[str]:
    """The lines of one fact: a list item, with the fact's tests and command below it."""
    state = f"{fact.state} ¶{ranges(fact.repeats)}" if fact.repeats else fact.state
    why = f" {_sentence(fact.why)}" if fact.why else ""
    lines = _lines(f"- **{state}**: {_sentence(fact.says)}{why}")
    for text in tests_by_file(fact.tests):
        lines += _lines(f"  - `{text}`")
    if fact.shows:
        lines += _lines(f"  - `{fact.shows}`" + (f" prints `{fact.prints}`" if fact.prints else ""))
    return lines


def _lines(text: str) -> list[str]:
    return wrap(text).splitlines()


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


def tests_by_file(tests: Sequence[str]) -> Iterator[str]:
    """Yield a text for each file of `tests` (`FILE::NAME`): its path and the tests in it."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        path, _, name = test.partition("::")
        by_file.setdefault(path, []).append(name.replace("::", "."))
    for path, names in by_file.items():
        yield f"{path}: {', '.join(names)}" if any(names) else path
