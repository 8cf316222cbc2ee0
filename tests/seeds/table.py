"""The table of the seeds: each paragraph, the facts in it, the tests that show each fact.

`paragraphs/NNN.tsv` identifies the paragraphs of seed NNN: number, digest of the text, first
words. `facts/NNN.toml` says what each paragraph states and what became of it in Macaw.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SEEDS = {
    "000": "the instruction processor and the sparse PE array",
    "001": "performance register groups and trace registers",
    "002": "the SIMD core with a permuted multiply-accumulate",
    "003": "the block-floating-point processor and its concordant software",
    "004": "function-in-memory DRAM",
}
BY_LINE = {"001", "003"}  # their paragraphs have no numbers: ¶N is the Nth line that is not empty
STATES = {
    "holds": "Macaw does what the paragraph says",
    "differs": "Macaw does something else, for the reason given",
    "absent": "not modelled, for the reason given",
    "repeated": "says again what another paragraph says",
    "background": "no statement about the machine: context, law, figure captions",
}
_NUMBER = re.compile(r"(\d+)\.(?!\d)")  # "46.In such a system ..."
_BRACKETS = re.compile(
    r"(?:\[0\d{3}\])+"
)  # "[0116][0117]": a paragraph's text was lost, or follows
_END = "再多了解一些"  # text after this belongs to the web page, not to the document


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of a seed, identified by a digest; the text itself is not stored."""

    number: int
    digest: str  # first 12 hexadecimal digits of SHA-256 of the text without white space
    words: str  # the first 16 characters


@dataclass(frozen=True)
class Fact:
    """One statement of a seed, and whether Macaw does what it says."""

    seed: str
    paragraphs: tuple[int, ...]
    says: str
    state: str
    why: str = ""
    repeats: tuple[int, ...] = ()
    tests: tuple[str, ...] = ()  # "tests/emu/test_x.py::test_y", or "programs/x" (a golden folder)
    shows: str = ""  # a command, run from the root of the tree
    prints: str = ""  # what that command prints among other things


def paragraphs_in(seed: str, text: str) -> list[Paragraph]:
    """The paragraphs of a seed's text, in order."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if seed in BY_LINE:
        return [_paragraph(number, line) for number, line in enumerate(lines, 1)]
    texts: dict[int, list[str]] = {}
    last = 0
    for line in lines:
        if line == _END:
            break
        brackets = _BRACKETS.fullmatch(line)
        match = _NUMBER.match(line)
        if brackets:
            for number in map(int, re.findall(r"\d{4}", line)):
                last = number
                texts[last] = []
        elif match and int(match[1]) == last + 1:
            last += 1
            texts[last] = [line[match.end() :]]
        elif last:
            texts[last].append(line)
    return [_paragraph(number, "".join(parts)) for number, parts in sorted(texts.items())]


def _paragraph(number: int, text: str) -> Paragraph:
    squeezed = "".join(text.split())
    digest = hashlib.sha256(squeezed.encode()).hexdigest()[:12]
    return Paragraph(number, digest, squeezed[:16])


def paragraphs(seed: str) -> list[Paragraph]:
    """The paragraphs of a seed as the table identifies them."""
    rows = (HERE / "paragraphs" / f"{seed}.tsv").read_text("utf-8").splitlines()
    cells = [row.split("\t") for row in rows]
    return [Paragraph(int(number), digest, words) for number, digest, words in cells]


def facts(seed: str) -> list[Fact]:
    """The facts of a seed, in the order of the file."""
    path = HERE / "facts" / f"{seed}.toml"
    rows = tomllib.loads(path.read_text("utf-8")).get("fact", [])
    return [_fact(seed, row) for row in rows]


def _fact(seed: str, row: dict[str, object]) -> Fact:
    known = {"at", "says", "state", "why", "repeats", "tests", "shows", "prints"}
    if unknown := set(row) - known:
        raise ValueError(f"seed {seed}, {row.get('at')}: unknown keys {sorted(unknown)}")
    tests = row.get("tests", [])
    assert isinstance(tests, list)
    return Fact(
        seed,
        numbers(str(row["at"])),
        str(row["says"]),
        str(row["state"]),
        str(row.get("why", "")),
        numbers(str(row.get("repeats", ""))),
        tuple(str(test) for test in tests),
        str(row.get("shows", "")),
        str(row.get("prints", "")),
    )


def numbers(text: str) -> tuple[int, ...]:
    """`"3, 7-9"` gives (3, 7, 8, 9)."""
    found: list[int] = []
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        first, _, last = piece.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)


def ranges(values: tuple[int, ...]) -> str:
    """(3, 7, 8, 9) gives `"3, 7-9"`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
