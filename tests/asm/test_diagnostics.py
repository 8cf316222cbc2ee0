"""How diagnostics look: text with carets, JSON, did-you-mean; places of logical lines."""

from __future__ import annotations

import json
import pickle
from collections.abc import Collection
from pathlib import Path
from typing import SupportsIndex

import pytest
from lark.parsers.lalr_interactive_parser import InteractiveParser

from macaw.asm import diagnostics, program_symbols
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import (
    AssemblyError,
    Diagnostic,
    Link,
    Span,
    did_you_mean,
    pieces,
    render,
    to_json,
)
from macaw.asm.source import Source, SourceText, logical_lines


def diagnose(text: str) -> AssemblyError:
    """The errors of a source."""
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text, "a.s"))
    return caught.value


def test_an_error_goes_to_another_process() -> None:
    """`pickle` copies an error, as pools of processes do."""
    error = diagnose(".core cp\n foo\n bar\n")
    copied = pickle.loads(pickle.dumps(error))
    assert isinstance(copied, AssemblyError)
    assert (str(copied), copied.errors) == (str(error), error.errors)
    assert len(copied.errors) == 2


def test_text() -> None:
    error = diagnose("\t.core cp\nx:\taddi a0, a1, 5000\n\tj strat\n_start:\n.L:\n\tnop\n")
    assert render(error.diagnostics) == (
        "a.s:2:17: error: imm: 5000 is out of range, -2048 to 2047\n"
        "    x:\taddi a0, a1, 5000\n"
        "      \t             ^^^^\n"
        "a.s:3:4: error: undefined symbol 'strat'\n"
        "    \tj strat\n"
        "    \t  ^^^^^\n"
        "    hint: did you mean '_start'?\n"
        "a.s:5:1: warning: label '.L' is not used [-Wunused-label]\n"
        "    .L:\n"
        "    ^^\n"
    )
    assert str(error) == (
        "a.s:2:17: error: imm: 5000 is out of range, -2048 to 2047\n"
        "a.s:3:4: error: undefined symbol 'strat'\n"
        "a.s:5:1: warning: label '.L' is not used"
    )
    assert [item.message for item in error.errors] == [x.message for x in error.diagnostics[:2]]


def test_a_second_definition_names_the_line_of_the_first() -> None:
    error = diagnose(".core cp\n_start: nop\nfirst: again: nop\nagain: nop\n")
    assert "hint: the first is at a.s:3\n" in f"{render(error.diagnostics)}\n"


def test_a_label_after_a_second_definition_is_defined() -> None:
    """A label beside one that is defined twice is no mistake, and a jump to it is none either."""
    error = diagnose(".core cp\n_start: nop\n_start: again: nop\n j again\n")
    assert [item.message for item in error.diagnostics] == ["'_start' is defined twice"]


def test_a_part_without_a_start_hides_no_wrong_start() -> None:
    """Only the second part has a `_start`, at which there is no instruction."""
    error = diagnose(".core cp\n nop\n.core vc\n nop\n_start:\n")
    assert [item.message for item in error.diagnostics] == [
        "there is no instruction at '_start', where the program begins"
    ]


def test_of_a_long_line_what_stands_around_is_shown() -> None:
    numbers = [str(number) for number in range(100, 200)]
    for wrong in (0, 10, 50, 99):
        line = " .byte " + ",".join([*numbers[:wrong], "what", *numbers[wrong + 1 :]])
        _, source, caret, *_ = render(diagnose(line).diagnostics).splitlines()
        assert len(source) <= 4 + 160 + 6
        assert source[caret.index("^") : caret.index("^") + caret.count("^")] == "what"
        assert source.strip(" .") in line
    (wide,) = diagnose(" .ascii " + "1" * 1000).diagnostics
    _, source, caret = render([wide]).splitlines()
    assert source.endswith("1...")
    assert caret.strip() == "^" * len(source.partition("ascii ")[2].rstrip("."))


def test_the_end_of_a_line_and_a_span_over_lines() -> None:
    error = diagnose(" .byte 1 +  \n .byte (1 / /* over\n lines */ 0)\n")
    assert render(error.diagnostics) == (
        "a.s:1:11: error: the line ends where an operand should be\n"
        "     .byte 1 +  \n"
        "              ^\n"
        "a.s:2:9: error: division by zero\n"
        "     .byte (1 / /* over\n"
        "            ^^^^^^^^^^^\n"
    )


def test_control_characters_do_not_reach_the_screen() -> None:
    text = render(diagnose(" .byte \x1b[31m\n").diagnostics)
    assert "\x1b" not in text
    assert text.splitlines()[0] == "a.s:1:8: error: unexpected character '\\x1b'"


def test_json() -> None:
    found = json.loads(to_json(diagnose(" .byte 256\n .wrod 1").diagnostics))
    assert found == [
        {
            "severity": "error",
            "message": "256 is out of range, -128 to 255",
            "file": "a.s",
            "line": 1,
            "column": 8,
            "end_column": 11,
            "hint": "",
            "name": "",
            "chain": [],
        },
        {
            "severity": "error",
            "message": "unknown directive '.wrod'",
            "file": "a.s",
            "line": 2,
            "column": 2,
            "end_column": 7,
            "hint": "did you mean '.word'?",
            "name": "",
            "chain": [],
        },
    ]
    assert json.loads(to_json([])) == []


def test_the_chain_of_expansions() -> None:
    outer = Link("in expansion of macro 'dot'", Span("a.s", 9, 2, 5))
    item = Diagnostic("error", "no", Span("a.s", 3, 1, 2), "", (outer,), "x")
    assert render([item]) == (
        "a.s:3:1: error: no\n    x\n    ^\na.s:9:2: in expansion of macro 'dot'\n"
    )
    assert json.loads(to_json([item]))[0]["chain"] == [
        {
            "what": "in expansion of macro 'dot'",
            "file": "a.s",
            "line": 9,
            "column": 2,
            "end_column": 5,
        }
    ]


def test_pieces_say_their_style() -> None:
    error = diagnose(" .wrod 1")
    assert [style for style, _ in pieces(error.errors[0])] == [
        "place", "error", "message", "source", "caret", "hint",
    ]  # fmt: skip


def test_did_you_mean() -> None:
    assert did_you_mean("blance", ["balance", "base"]) == "did you mean 'balance'?"
    assert did_you_mean("ADD", ["add", "and"]) == "did you mean 'add'?"
    assert did_you_mean("qqqq", ["add", "and"]) == ""
    assert did_you_mean("", ["add"]) == ""
    assert did_you_mean("x" * 100_000, ["y" * 100_000]) == ""


@pytest.mark.once
def test_hints_for_unknown_symbols_compare_a_limited_number_of_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """600 unknown symbols beside as many labels are all reported, with few comparisons."""
    compared: list[int] = []
    nearest = diagnostics._nearest

    def counted(word: str, names: frozenset[str]) -> str:
        compared.append(len(names))
        return nearest(word, names)

    monkeypatch.setattr(diagnostics, "_nearest", counted)
    monkeypatch.setattr(diagnostics, "_MOST_COMPARED", most := diagnostics._MOST_COMPARED // 4)
    text = "".join(f"lab_{n}: .word lba_{n}\n" for n in range(600))
    found = diagnose(text).errors
    assert len(found) == 600
    assert found[0].hint.startswith("did you mean 'lab_")
    assert found[-1].hint == ""
    assert sum(compared) <= most + len(found) <= 200_000


def lines(text: str) -> list[tuple[str, int, int]]:
    """The logical lines of a text with line and column."""
    source = SourceText(text, "a.s")
    return [(x.text, *source.locate(x.start)) for x in logical_lines(source, lambda _: None)]


def test_the_text_of_an_error_names_the_first_hundred() -> None:
    error = diagnose(".core cp\n" + "nope\n" * 103)
    assert len(error.errors) == 103
    assert str(error).count("\n") == 100
    assert str(error).endswith("a.s:101:1: error: cp has no instruction 'nope'\n3 more errors")


@pytest.mark.once
def test_hints_end_when_too_many_words_are_wrong() -> None:
    """All errors are reported, but only the first unknown words are compared with known names."""
    lines = "".join(f"ad{place}d a0, a1, a2\n" for place in range(2000))
    found = diagnose(f".core cp\n{lines}").errors
    assert len(found) == 2000
    assert found[0].hint == "did you mean 'add'?"
    assert found[-1].hint == "'macaw isa cp' lists what it has"


@pytest.mark.once
@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("add a0, a1 {}", "expected ',' before '7'", ""),
        ("add a0, a1, ]{}", "unexpected ']', expected an operand", ""),
        ("lw a0, elsewhere{}(a1)", "undefined symbol 'elsewhere7'", ""),
        ("lw a0, x9{}(a1)", "undefined symbol 'x97'", "the registers are x0 to x31"),
        ("lw a0, plase{}(a1)", "undefined symbol 'plase7'", "did you mean 'place'?"),
        ("qqzz{} a0", "cp has no instruction 'qqzz7'", "'macaw isa cp' lists what it has"),
    ],
)
def test_what_wrong_lines_share_is_found_once(
    monkeypatch: pytest.MonkeyPatch, line: str, message: str, hint: str
) -> None:
    """For 300 wrong lines, expected words and names for hints are computed at most twice (F40)."""
    accepts = InteractiveParser.accepts
    searched: list[object] = []  # the list keeps them alive, so each has its own id
    compared: list[object] = []

    def counted_accepts(parser: InteractiveParser) -> object:
        searched.append(parser)
        return accepts(parser)

    def counted_comparison(word: str, names: Collection[str]) -> str:
        compared.append(names)
        return did_you_mean(word, names)

    monkeypatch.setattr(InteractiveParser, "accepts", counted_accepts)
    monkeypatch.setattr(program_symbols, "did_you_mean", counted_comparison)
    lines = "".join(f"{line.format(place)}\n" for place in range(300))
    found = diagnose(f".core cp\nplace: nop\n{lines}").errors
    assert [item.span.line for item in found] == list(range(3, 303))
    assert (found[7].message, found[7].hint) == (message, hint)
    assert len(searched) <= 2
    assert len(set(map(id, compared))) <= 2


@pytest.mark.once
def test_errors_in_many_expansions_are_counted() -> None:
    """An error in many expansions is reported once, with the number of the other expansions."""
    text = ".core cp\n.macro m\nnope\n.endm\n.rept 3000\nm\n.endr\n"
    (error,) = diagnose(text).errors
    assert error.hint == "did you mean 'nop'?; the same in 2999 more expansions"


def test_logical_lines() -> None:
    assert lines(
        "a; b ;;c\n\n  d # x ; y\n e // z\n/* f */ g /* h\n i */ j\r\n'#' \"; // /*\" k"
    ) == [
        ("a", 1, 1),
        ("b", 1, 4),
        ("c", 1, 8),
        ("d", 3, 3),
        ("e", 4, 2),
        ("g" + " " * 12 + "j", 5, 9),
        ("'#' \"; // /*\" k", 7, 1),
    ]
    assert lines("") == []
    assert lines("'\\'' ; '\\x41' ; ''' ; x") == [
        ("'\\''", 1, 1),
        ("'\\x41'", 1, 8),
        ("'''", 1, 17),
        ("x", 1, 23),
    ]


def test_a_comment_without_its_end_is_told_once() -> None:
    found: list[int] = []
    source = SourceText("a /* b */ c\n d /*/ e\n f", "a.s")
    assert [x.text for x in logical_lines(source, found.append)] == ["a         c", "d"]
    assert found == [15]


def test_seven_mistakes_are_seven_diagnostics_each_on_its_line() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(Path(__file__).parent / "err" / "seven_mistakes.s")
    lines = [item.span.line for item in caught.value.diagnostics]
    assert lines == [5, 6, 7, 8, 9, 10, 12]
    assert len({item.message for item in caught.value.diagnostics}) == 7


class CountedText(str):
    """A text that counts the characters which slices copy out of it."""

    __slots__ = ()
    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        CountedText.copied += len(part)
        return part


def test_an_unknown_word_does_not_copy_the_text_before_it() -> None:
    """The time of many wrong lines is proportional to their number (F40)."""
    text = CountedText("        .core cp\n" + "        frobnicate\n" * 200)
    CountedText.copied = 0
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text, "p.s"))
    assert len(caught.value.diagnostics) == 200
    assert CountedText.copied < 10 * len(text)
