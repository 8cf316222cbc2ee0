"""Stores the tables of a parser, so that no process has to compute them from the grammar.

`make docs` writes the tables of a grammar into a file, and a test compares the file with the
grammar. If the rules of the grammar or the version of Lark differ from those in the file, Lark
computes the tables again.
"""

from __future__ import annotations

import json
from typing import Any

import lark
from lark import Lark, Transformer
from lark.grammar import Rule
from lark.lexer import TerminalDef

NAME = "parser_tables.json"  # in the package of the grammar
_OF_A_PROCESS = ("transformer", "import_paths", "source_path")  # options that are not stored


def dump(rules: str, start: str) -> str:
    """Return the text of a file with the tables of a grammar.

    `rules` is the text of the grammar, `start` the name of its start symbol.
    """
    data, memo = _parser(rules, start, None).memo_serialize([TerminalDef, Rule])
    data["options"] = {x: y for x, y in data["options"].items() if x not in _OF_A_PROCESS}
    key = {"lark": lark.__version__, "rules": rules}
    return json.dumps({**key, "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def current(stored: str, rules: str, start: str) -> str:
    """Return `stored` if its tables are valid for `rules` and this Lark, else a new file's text.

    So the file changes only if it has to. A new file would differ even for the same rules, because
    the order of Lark's tables depends on the hashes of a process.
    """
    found = json.loads(stored) if stored else {}
    is_same = (found.get("lark"), found.get("rules")) == (lark.__version__, rules)
    return stored if is_same else dump(rules, start)


def parser(stored: str, rules: str, start: str, transformer: Transformer[Any, Any]) -> Lark:
    """Return a parser for a grammar.

    It uses the tables in the text `stored` if these fit the rules and the version of Lark.
    Otherwise Lark computes them.
    """
    found = json.loads(stored, object_hook=_with_numbers)
    if (found["lark"], found["rules"]) == (lark.__version__, rules):
        load: Any = Lark._load_from_dict  # Lark gives no types here
        made: Lark = load(found["data"], found["memo"], transformer=transformer)
        return made
    return _parser(rules, start, transformer)


def _with_numbers(item: dict[str, Any]) -> dict[str | int, Any]:
    """Return a JSON object with integers in place of those keys that JSON stores as texts."""
    return {int(key) if key.isdigit() else key: value for key, value in item.items()}


def _parser(rules: str, start: str, transformer: Transformer[Any, Any] | None) -> Lark:
    return Lark(
        rules,
        start=start,
        parser="lalr",
        transformer=transformer,
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
