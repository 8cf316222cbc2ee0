"""References and renamings in generated sources, against the names that the generator wrote."""

import random
import re
from collections import defaultdict

import pytest

from macaw.asm.diagnostics import Span
from macaw.asm.editing import occurrences
from macaw.asm.editing.document import Document
from macaw.asm.editing.renaming import RenameError
from tests.asm.corpus import VALID_SOURCES, source_of

pytestmark = pytest.mark.once

# In a template, `<thing:word>` is a word of the source, and `thing` says what the word means: words
# of one thing are its occurrences. `K` is the number of the piece, `P` that of the part.
PIECES = [
    """\
        .equ    <size K:sizeK>, 2               # sizeK
        .macro  <fill K:fillK> <n K:n>, <how K:how>=<size K:sizeK>, <rest K:rest>:vararg
        .if     \\<n K:n> - 1
        <fill K:fillK> <how K:how>=\\<how K:how>, <n K:n>="\\<n K:n> - 1"
        .endif
        li      <a0 P:a0>, \\<n K:n>\\() + \\<how K:how>
        .irp    <each K:x>, \\<rest K:rest>, <size K:sizeK>
        addi    <a0 P:a0>, <a0 P:a0>, \\<each K:x> + 0
        .endr
        .endm
        <fill K:fillK> 2, "<size K:sizeK> + 1", 1, <size K:sizeK>
        <fill K:fillK> 1
        <fill K:fillK> <how K:how>=3, <n K:n>=<size K:sizeK>
        .purgem <fill K:fillK>
""",
    """\
<low K:lowK> = 1
        .macro  <put K:put.K> <n K:n>=(<low K:lowK> + 1), <m K:m>=-<low K:lowK>, <o K:o>="<low K:lowK> + 1"
        .macro  <in K:in.K> <v K:v>, <own K:n>=7
        .word   \\<v K:v>, \\<n K:n>, <low K:lowK>
        .endm
        <in K:in.K> \\<n K:n>, 2
        .word   \\<n K:n>, \\<m K:m>, \\<o K:o>
        .endm
        <put K:put.K> <o K:o>=<low K:lowK>
""",
    """\
<up K:1>:      addi    <a1 P:a1>, <a1 P:a1>, -1
        bnez    <a1 P:a1>, <up K:1>b
        j       <down K:1>f
        beqz    <a0 P:a0>, <far K:22>f
<down K:1>:      addi    <a0 P:a0>, <a1 P:a1>, 0; li <a2 P:a2>, 1
        bnez    <a2 P:a2>, <down K:1>b
<far K:22>:     nop
""",
    """\
<count K:countK> = 0
        .rept   3
<count K:countK> = <count K:countK> + 1
        .endr
        .irpc   <digit K:n>, 12
        li      <a0 P:a0>, \\<digit K:n> + <count K:countK>
        .endr
        .ifdef  <none K:noneK>
        li      <a2 P:a2>, <count K:countK>
        .endif
<here K:hereK>:  .word   <here K:hereK> - . + <count K:countK>     /* countK */
        .set    <none K:noneK>, <here K:hereK>
""",
]
WORD = re.compile(r"<([^:<>]+):([^<>]+)>")


def template(chance: random.Random) -> str:
    """A source with two or three parts of cores; each part has one or two templates of `PIECES`."""
    text, number = "", 0
    for part in range(chance.randrange(2, 4)):
        text += f"        .core   {chance.choice(('cp', 'vc'))}\n"
        for _ in range(chance.randrange(1, 3)):
            piece = chance.choice(PIECES).replace("P:", f"{part}:")
            text += re.sub(r"\bK\b|K(?=>|$)|(?<=[a-z])K\b", str(number), piece, flags=re.M)
            number += 1
    return text


def plain(text: str, new: dict[str, str]) -> tuple[str, dict[str, set[tuple[int, int]]]]:
    """The source that a template gives, and the places (line, column) of each thing's words.

    `new` maps a thing to the word that replaces the template's word.
    """
    places = defaultdict(set)
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        pieces, end, column = [], 0, 1
        for word in WORD.finditer(line):
            before, name = line[end : word.start()], new.get(word[1], word[2])
            column += len(before)
            places[word[1]].add((number, column))
            pieces += [before, name]
            column, end = column + len(name), word.end()
        lines.append("".join([*pieces, line[end:]]))
    return "\n".join(lines), places


def found(document: Document, place: tuple[int, int]) -> set[tuple[int, int]]:
    return {(x.span.line, x.span.column) for x in document.references(*place)}


def renamed(document: Document, place: tuple[int, int], name: str) -> str:
    """The text after a renaming of the word at a place."""
    (spans,) = document.rename(*place, name).values()
    lines = document.text.split("\n")
    for span in sorted(spans, key=lambda x: -x.column):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + name + line[span.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(10))
def test_words_of_one_thing_are_its_references_and_are_renamed(seed: int) -> None:
    chance = random.Random(seed)
    written = template(chance)
    text, places = plain(written, {})
    document = Document(text, "t.s")
    assert document.diagnostics == ()
    for thing, expected in places.items():
        for place in chance.sample(sorted(expected), min(3, len(expected))):
            assert found(document, place) == expected, thing
        place = chance.choice(sorted(expected))
        if re.match(r"a\d", thing):
            with pytest.raises(RenameError, match="is a register"):
                document.rename(*place, "other")
            continue
        name = "77" if thing.split()[0] in ("up", "down", "far") else "other.name"
        other = renamed(document, place, name)
        assert other == plain(written, {thing: name})[0], thing
        assert Document(other, "t.s").diagnostics == ()


def test_references_of_each_reference_are_the_same() -> None:
    """In the corpus, each occurrence of a name leads to the same set of occurrences."""
    counts: dict[str, int] = defaultdict(int)
    for path in VALID_SOURCES:
        source = source_of(path)
        document = Document(source.text, source.name, source.folder)
        file = document.program.files[source.name]
        starts = [0, *(at + 1 for at, sign in enumerate(file.text) if sign == "\n")]
        classes: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for item in occurrences.of_file(file):
            line = file.text.count("\n", 0, item.start) + 1
            place = line, item.start - starts[line - 1] + 1
            same = found(document, place)
            assert place in same
            assert same == classes.setdefault(min(same), same), (path.name, item)
            counts[item.kind] += 1
    assert counts.keys() == {"symbol", "macro", "parameter", "keyword", "local", "register"}


NOT_SUGGESTED = [
    "own_cp.s: _list.0 in li      a2, _list.0",  # the assembler has made it
    "symbols.s: two in three = two + 1",  # after `=`, statements are suggested
    "view.s: a in .view   b, int8, 3, 4, at=a",  # after `at=`, sections are suggested
    "view.s: b in .view   c, uint16, 2, at=b + 4",
]


def test_what_a_source_has_is_suggested_at_its_place() -> None:
    """Each instruction, directive, register and symbol of the corpus is among the suggestions.

    Registers in moves of islands are left out: nothing is suggested inside a move.
    """
    seen: set[tuple[str, ...]] = set()
    missing = []
    counts: dict[str, int] = defaultdict(int)
    for path in VALID_SOURCES:
        source = source_of(path)
        document = Document(source.text, source.name, source.folder)
        file = document.program.files[source.name]
        table = document.assembly.symbols.table.scopes[0]
        for line in file.tokens.lines:
            definitions = {x.start for x in occurrences.in_line(line) if x.defines}
            number = file.text.count("\n", 0, line.start) + 1
            for token in line.tokens:
                what = (line.core, token.head, token.named, token.role, token.text)
                if token.role == "symbol":
                    symbol = table.find(token.text)
                    if symbol is None or symbol.is_bad or token.start in definitions:
                        continue
                elif token.role not in ("instruction", "directive", "register") or (
                    token.role == "register" and line.core in ("", "fim")
                ):
                    continue
                if what in seen or "\n" in line.text:
                    continue
                seen.add(what)
                found = document.completions(number, token.start + 1)
                counts[token.role] += 1
                if token.text.lower() not in {x.word.lower() for x in found.items}:
                    missing.append(f"{path.name}: {token.text} in {line.text.strip()}")
    assert missing == NOT_SUGGESTED
    assert min(counts[role] for role in ("instruction", "directive", "register", "symbol")) > 90


@pytest.mark.parametrize(
    ("line", "registers", "symbols"),
    [
        (" lui a0, %hi(", False, True),
        (" lui a0, %hi(here + ", False, True),
        (" lw a0, %lo(here)(", True, False),
        (" addi a0, imm=%lo(here), rs1=", True, False),
        (" add a0, ", True, False),
    ],
)
def test_in_brackets_of_a_function_symbols_are_suggested(
    line: str, registers: bool, symbols: bool
) -> None:
    document = Document(f" .core cp\nhere: nop\n{line}", "t.s")
    words = {x.word for x in document.completions(3, len(line) + 1).items}
    assert ("a1" in words, "here" in words) == (registers, symbols)


QUOTED = """\
        .core   cp
"a b":  nop
        .word   "a b", sizeof("a b")
        la      a0, "a b"
        .type   "a b", "object"
"k k" = 4
        .set    "q q", "k k"
        .if     "k k" == 4
        .ascii  "k k", "a b", "--"
        .endif
        .ifdef  "q q"
        lw      a0, "k k"(a1)
        .endif
plain:  .word   "plain"
"""


def test_names_in_quotes_are_names() -> None:
    """Hover, definition, references and renaming find them; strings of texts are no names."""
    source = Document(QUOTED, "t.s")
    assert not source.diagnostics
    places = {
        "a b": ["2:1-6", "3:17-22", "3:31-36", "4:21-26", "5:17-22"],
        "k k": ["6:1-6", "7:24-29", "8:17-22", "12:21-26"],
        "q q": ["7:17-22", "11:17-22"],
        "plain": ["14:1-6", "14:17-24"],
    }
    for name, expected in places.items():
        for place in expected:
            line, column = (int(x) for x in place.split("-")[0].split(":"))
            hover, definition = source.hover(line, column + 2), source.definition(line, column + 2)
            assert hover is not None
            assert f"{name}: " in hover.text
            assert definition is not None
            spans = [x.span for x in source.references(line, column + 2)]
            assert definition == spans[0]
            assert [f"{x.line}:{x.column}-{x.end_column}" for x in spans] == expected
            assert source.rename(line, column + 2, "new") == {"t.s": spans}
    assert source.hover(9, 19) is None
    assert source.references(5, 25) == []
    assert {x.name for entry in source.outline() for x in entry.children} == set(places)
    words = [x.word for x in source.completions(3, 17).items]
    assert {'"a b"', '"k k"', "plain"} <= set(words)
    nop = source.hover(2, 9)
    assert nop is not None
    assert nop.text.startswith("```text\nnop")


def test_local_labels_in_one_line() -> None:
    source = Document(" .core cp\n1: j 1f; 1: j 1b; nop\n j 1b\n1: nop\n", "t.s")
    places = [(2, 6), (2, 16), (3, 4)]
    assert [source.definition(*place) for place in places] == [Span("t.s", 2, 10, 11)] * 3
    assert source.definition(4, 1) is None
