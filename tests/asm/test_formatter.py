"""The formatter: its layout by hand-written examples; it changes blanks only, in any source."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.equivalence import same_program, same_tokens
from macaw.asm.formatter import format_text
from macaw.asm.parser import parse
from macaw.asm.source import Source, SourceText, logical_lines
from macaw.asm.syntax import Mistake, unplaced
from tests.asm import sources
from tests.fuzz.source_text import PIECES
from tests.fuzzing import EXAMPLES, fuzz

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("programs", "tests/asm", "tests/faults", "asm")
    for path in (ROOT / folder).rglob("*.s")
)
MACROS = sorted((ROOT / "tests/asm/gnu_macros").glob("*.s"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# --- by hand -----------------------------------------------------------------------------

CASES = {
    "columns": (
        "a:nop\n .core\tcp\n  li a0,1\n   dma.copy zero , a0\nlong_name: addi a0,a0,1\nb:\n",
        """\
a:      nop
        .core   cp
        li      a0, 1
        dma.copy zero, a0
long_name: addi    a0, a0, 1
b:
""",
    ),
    "neighbours behind long labels": (
        "one: .word 1\nnumber_two:   .word 2\nthree: nop # c\n .word 4\na: .word 5\n",
        """\
one:        .word   1
number_two: .word   2
three:      nop                         # c
        .word   4
a:      .word   5
""",
    ),
    "a very long label moves no neighbour": (
        "a: nop\nabcdefghijklmnopqrstuvwxyz: nop\n",
        "a:      nop\nabcdefghijklmnopqrstuvwxyz: nop\n",
    ),
    "several labels": ("a :b: 1:nop\n", "a: b: 1: nop\n"),
    "labels in quotes": (
        '"a b":nop\n  "a : b" :nop\n"\\"":"c:":  nop\n',
        '"a b":      nop\n"a : b":    nop\n"\\"": "c:": nop\n',
    ),
    "the instructions of a sequence": (
        ".seq s , state = sq\n.loop inner=2\n# all\n # of it\nfirst: mac base = 0,acc=1\n"
        "st\n.endseq\nexe ib=0\n",
        """\
        .seq    s, state=sq
        .loop   inner=2
# all
          # of it
first:    mac   base=0, acc=1
          st
        .endseq
        exe     ib=0
""",
    ),
    "a sequence without an end": (
        ".seq s\nmac\n.core cp\nnop\n",
        "        .seq    s\n          mac\n        .core   cp\n        nop\n",
    ),
    "brackets and operators": (
        "lw a0 , 4 ( sp )\n.word 1<<2,( 3+ 4 ) *5 ,x [ 1 ],a==b, - 1\n",
        """\
        lw      a0, 4 (sp)
        .word   1<<2, (3+ 4) *5, x [1], a==b, - 1
""",
    ),
    "assignments": (
        "  x=5\na: y = x==1\n .set z , 1\n",
        "x = 5\na:      y = x==1\n        .set    z, 1\n",
    ),
    "strings and characters": (
        ".ascii\"a  ,b;#\" , \"\t\"\n.byte ',' ,'\"',' '\n",
        "        .ascii  \"a  ,b;#\", \"\t\"\n        .byte   ',', '\"', ' '\n",
    ),
    "several statements": (
        "nop;li a0 , 1 ;  x=5;\n;;\n; nop\n",
        "        nop; li a0, 1; x = 5;\n;;\n; nop\n",
    ),
    "comments are kept to the letter": (
        "#a  b\t c  \n nop//x ,y\n  #  in\n nop /* a  , */\n  nop /* b */ # c\n/* d */\n",
        """\
#a  b\t c
        nop                             //x ,y
        #  in
        nop                             /* a  , */
        nop     /* b */                 # c
/* d */
""",
    ),
    "comments stand below each other": (
        ' nop # a\n .word 0x10000000, 0x20000000, 3 # b\n\n nop # c\n .ascii "'
        + "x" * 60
        + '" # d\n',
        "        nop                                     # a\n"
        "        .word   0x10000000, 0x20000000, 3       # b\n\n"
        "        nop                             # c\n"
        '        .ascii  "' + "x" * 60 + '"  # d\n',
    ),
    "a comment goes on below": (
        " nop   # a\n                             # b\n   # c\n                             # d\n",
        f"        nop{' ' * 29}# a\n{' ' * 40}# b\n        # c\n        # d\n",
    ),
    "comments inside of a statement": (
        " .byte 1 ,/* a,b */2,  /* c */ 3\n/* d */  nop\nli/**/a0, 1\n",
        "        .byte   1, /* a,b */2, /* c */ 3\n/* d */  nop\nli/**/a0, 1\n",
    ),
    "comments over lines": (
        " nop /* a  \n  b,c*/  li a0,1 /* \n\n\n*/ \nnop # /*\n nop\n",
        " nop /* a\n  b,c*/  li a0,1 /*\n\n*/\n        nop                             # /*\n        nop\n",
    ),
    "a comment without an end": (" nop\n  /* a\n  nop\n", "        nop\n  /* a\n  nop\n"),
    "a string without an end": (' .ascii "a , b\n nop\n', ' .ascii "a , b\n        nop\n'),
    "empty lines": ("\n\n a\n \n\t\n\n b\n\n\n", "        a\n\n        b\n"),
    "nothing": ("", ""),
    "nothing but blanks": (" \n\t\n", ""),
    "line ends": ("a:\r\n nop\r\n nop", "a:\n        nop\n        nop\n"),
    "macros": (
        ".macro m a,b = 1 , c:req\n\\a\\@ : add\\b x,\\a\\()y,\\c\n.L\\@:\\op\\()w a0,1\n.endm\nm 1 -2,  -3\n",
        """\
        .macro  m a, b=1, c:req
\\a\\@:   add\\b   x, \\a\\()y, \\c
.L\\@:   \\op\\()w a0, 1
        .endm
        m       1 -2, -3
""",
    ),
    "a label called as .irpc": (".irpc :(\n", ".irpc:  (\n"),
    "a symbol called as .irpc": (".irpc =(\n", ".irpc = (\n"),
    "letters are kept": (".irpc  x,a  b, c ;nop\n", "        .irpc   x,a  b, c; nop\n"),
    "conditionals do not indent": (
        ".if x\n  nop\n.else\n  nop\n.endif\n",
        "        .if     x\n        nop\n        .else\n        nop\n        .endif\n",
    ),
    "no operator arises": (
        ".word a < = b, c = = d, e = -1\n",
        "        .word   a < =b, c= =d, e=-1\n",
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_layout(text: str, expected: str) -> None:
    assert format_text(text) == expected
    assert format_text(expected) == expected
    assert same_tokens(text, expected)


# --- on everything -----------------------------------------------------------------------


def statements(text: str) -> list[str]:
    """The grammar's tree of each statement without places, or the message of its mistake."""
    found = []
    for line in logical_lines(SourceText(text, ""), lambda offset: None):
        try:
            found.append(repr(unplaced(parse(line.text))))
        except Mistake as mistake:
            found.append(mistake.message)
    return found


def outside(text: str) -> str:
    """The text without strings, characters and comments, in which blanks are free."""
    pattern = r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\\\n])\'?|/\*.*?(?:\*/|\Z)|(?:#|//)[^\n]*'
    return re.sub(pattern, "'", text, flags=re.DOTALL)


def check(text: str) -> str:
    """Assert what holds for every text, and return the formatted text."""
    after = format_text(text)
    assert format_text(after) == after
    assert same_tokens(text, after)
    assert re.sub(r"\s", "", after) == re.sub(r"\s", "", text)
    assert not after or after.endswith("\n")
    assert not re.search(r"[ \t\r]$", outside(after), flags=re.M)
    return after


@pytest.mark.few(130)
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sources_of_the_repository(path: Path) -> None:
    text = path.read_text("utf-8")
    after = check(text)
    assert statements(after) == statements(text)
    whole = same_program(Source(text, path.name, path.parent), after)
    assert whole is not False
    if path.parent.name == "ok":
        assert whole or ".global" in text or "-D" in text


@pytest.mark.parametrize("path", MACROS, ids=lambda path: path.stem)
def test_sources_of_macros_give_the_same_bytes(path: Path) -> None:
    text = f"        .core   cp\n{path.read_text('utf-8')}"
    after = check(text)
    program = assemble(Source(text, path.name, path.parent), include_dirs=[path.parents[1] / "ok"])
    again = assemble(Source(after, path.name, path.parent), include_dirs=[path.parents[1] / "ok"])
    assert again == program


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_blocks_of_the_manual(path: Path) -> None:
    for block in re.findall(r"(?:^    .*\n(?:\n+(?=    ))?)+", path.read_text("utf-8"), flags=re.M):
        text = textwrap.dedent(block)
        after = check(text)
        if text.startswith("$ "):
            continue  # what a command prints
        if re.search(r"^        \.core", text, flags=re.M):
            assert after == text


def test_the_samples_are_formatted() -> None:
    paths = [path for path in SOURCES if path.parts[-3] == "programs" or path.parent.name == "asm"]
    assert len(paths) >= 4
    for path in paths:
        assert format_text(path.read_text("utf-8")) == path.read_text("utf-8"), path


# --- random ------------------------------------------------------------------------------

some = settings(fuzz, max_examples=max(100, EXAMPLES // 20))  # of whole programs
BLANK = st.text(" \t", min_size=1, max_size=12)
MAYBE = st.text(" \t", max_size=3)
COMMENT = st.sampled_from(["# one", "// a,b ;c", "#", "/* x  y */", '# "', "# it's"])


@st.composite
def other_blanks(draw: st.DrawFn, text: str) -> str:
    """Draw the text in another layout: other blanks, also around commas, and empty lines."""
    written = []
    for line in text.splitlines():
        pieces = re.findall(
            r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\\])\'|[ \t]+|,|[^ \t,"\']+', line.strip()
        )
        made = draw(MAYBE)
        for piece in pieces:
            if piece == ",":
                made += draw(MAYBE) + "," + draw(MAYBE)
            else:
                made += draw(BLANK) if piece.isspace() else piece
        written.append(made + draw(MAYBE))
        written += [draw(MAYBE)] * (not line.strip())
    return draw(st.sampled_from(["\n", "\r\n"])).join(written) + draw(st.sampled_from(["", "\n"]))


@st.composite
def commented(draw: st.DrawFn, text: str) -> str:
    """Draw the text with comments, empty lines and `;` inserted."""
    written = ""
    for line in text.splitlines():
        kind = draw(st.integers(0, 9))
        if kind == 0:
            written += draw(MAYBE) + draw(COMMENT) + "\n"
        elif kind == 1:
            written += "\n" * draw(st.integers(1, 3))
        elif kind == 2:
            written += draw(MAYBE) + "/* over\n\t lines */" + draw(MAYBE)
        elif kind == 3 and written.endswith("\n") and "#" not in written and "//" not in written:
            written = written[:-1] + draw(MAYBE) + ";"
        written += line
        if draw(st.integers(0, 4)) == 0:
            written += draw(MAYBE) + draw(COMMENT)
        written += "\n"
    return written


PROGRAMS = sources.cp_source() | sources.pe_source()


@some
@given(PROGRAMS.flatmap(lambda text: st.tuples(st.just(text), other_blanks(text))))
def test_one_layout_whatever_the_blanks_were(pair: tuple[str, str]) -> None:
    text, other = pair
    assert format_text(other) == format_text(text)


@some
@given(PROGRAMS.flatmap(other_blanks).flatmap(commented))
def test_random_programs_stay_the_same(text: str) -> None:
    after = check(text)
    assert statements(after) == statements(text)
    try:
        program = assemble(Source(text))
    except AssemblyError as error:
        with pytest.raises(AssemblyError) as raised:
            assemble(Source(after))
        messages = [item.message for item in error.diagnostics]
        assert [item.message for item in raised.value.diagnostics] == messages
        return
    assert assemble(Source(after)) == program


@fuzz
@given(st.lists(st.sampled_from([*PIECES, ".seq ", ".irpc ", " a", "\\a", "\\()"])).map("".join))
@example("\\( )")
@example('"a "')
@example("' '")
@example("a= =b")
@example("/*\n/")
@example("'\\\n'")
def test_any_text(text: str) -> None:
    assert statements(check(text)) == statements(text)


# --- the proof ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m 1 -2", "m 1-2"),
        ("m a b", "m ab"),
        ("m a (b)", "m a(b)"),
        (".word 1", ".word 2"),
        ("nop", "nop; nop"),
        ("nop; nop", "nop"),
        ('.ascii "a b"', '.ascii "a  b"'),
        (".byte ' '", ".byte '\t'"),
        (".irpc x,a  b", ".irpc x,a b"),
        ("nop # a\nnop", "nop # a nop"),
        (".word a < = b", ".word a <= b"),
    ],
)
def test_other_tokens_are_seen(before: str, after: str) -> None:
    assert not same_tokens(before, after)
    assert not same_tokens(after, before)


def test_other_bytes_are_seen() -> None:
    source = Source(".core cp\nnop\n")
    assert same_program(source, ".core cp\n  nop # the same\n") is True
    assert same_program(source, ".core cp\nnop; nop\n") is False
    assert same_program(source, ".core cp\nfrob\n") is False
    assert same_program(replace(source, text="frob\n"), "frob\n") is None
