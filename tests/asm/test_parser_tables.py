"""The parser from stored tables equals the parser that Lark computes from the grammar."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lark
import pytest

from macaw.asm import grammar, parser_tables
from macaw.asm.syntax import Mistake
from macaw.debugger import grammar as expressions

PROGRAMS = Path(__file__).parents[2] / "programs"
LINES = sorted(
    {line.split("#")[0].strip() for path in PROGRAMS.glob("*/*.s") for line in path.read_text("utf-8").splitlines()}
)  # fmt: skip
EXPRESSIONS = (
    "pe[1,0].3.q1.level",
    "sum(pe[*,*].*.macs) < 0",
    "mem[x+4] == 1",
    "{int8}&y@4",
    "*a0",
)
WRONG = ("add a0 a1", "lw a0, [sp]", "add a0, (1 +", "1 + ] 2", "'", "pe[1", "")


@pytest.fixture(params=[grammar, expressions], ids=["lines", "expressions"])
def parsers(request: pytest.FixtureRequest) -> tuple[lark.Lark, lark.Lark]:
    """The parser in use, and a parser that Lark computes from the same rules."""
    rules, start = request.param.text(), request.param.START
    builder = request.param._parser().options.transformer
    computed = parser_tables.parser('{"lark": "", "rules": ""}', rules, start, builder)
    return request.param._parser(), computed


def _parsed(parser: lark.Lark, text: str) -> Any:
    """The tree as text, or the kind and place of the error."""
    try:
        return repr(parser.parse(text))
    except lark.exceptions.UnexpectedToken as error:
        return error.token, error.pos_in_stream, error.expected, error.accepts
    except (lark.exceptions.UnexpectedInput, lark.exceptions.VisitError, Mistake) as error:
        return type(error), str(error)


def test_both_parse_alike(parsers: tuple[lark.Lark, lark.Lark]) -> None:
    stored, computed = parsers
    assert stored.source_path == "<deserialized>"
    assert computed.source_path != "<deserialized>"
    trees = 0
    for text in (*LINES, *EXPRESSIONS, *WRONG):
        found = _parsed(stored, text)
        assert found == _parsed(computed, text), text
        trees += isinstance(found, str)
    assert trees >= len(EXPRESSIONS)


def test_tables_of_another_grammar_or_lark_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = 'line: "a"'
    stored = parser_tables.dump(rules, "line")
    assert json.loads(stored)["lark"] == lark.__version__

    def deserialized(rules: str) -> bool:
        parser = parser_tables.parser(stored, rules, "line", lark.Transformer())
        assert parser.parse("a") == lark.Tree("line", [lark.Token("A", "a")])
        return bool(parser.source_path == "<deserialized>")

    assert deserialized(rules)
    assert not deserialized(rules + ' | "b"')
    monkeypatch.setattr(lark, "__version__", "0.0")
    assert not deserialized(rules)


def test_tables_stay_for_the_same_rules() -> None:
    rules = 'line: "a"'
    stored = parser_tables.dump(rules, "line")
    assert parser_tables.current(stored + "\n", rules, "line") == stored + "\n"
    older = stored.replace(lark.__version__, "0.0")
    assert json.loads(parser_tables.current(older, rules, "line"))["lark"] == lark.__version__
    assert parser_tables.current(stored, rules + ' | "b"', "line") != stored
    assert json.loads(parser_tables.current("", rules, "line"))["rules"] == rules
