"""Generates the TextMate grammar and the language configuration for Visual Studio Code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from macaw.asm import columns
from macaw.asm.editors import words

SCOPE = "source.macaw"
_END_OF_WORD = r"(?![\w.$])"
_NAME = words.terminal("NAME")
_REGISTER = "variable.language.register"
_LABEL = "entity.name.function.label"


def grammar() -> Mapping[str, Any]:
    """Return the grammar as JSON data. It recognises each statement by its first word."""
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Macaw assembly",
        "comment": "Made from the tables by `make docs`; what is changed here is lost.",
        "scopeName": SCOPE,
        "patterns": [
            {"include": "#comment"},
            _rule(rf"({_NAME}|[0-9]+)\s*(:)", _LABEL, "punctuation.separator"),
            _rule(rf"({words.QUOTED})\s*(:)", "string.quoted.double", "punctuation.separator"),
            *_heads(),
        ],
        "repository": {"comment": {"patterns": _comments()}, "operand": {"patterns": _operands()}},
    }


def _rule(match: str, *scopes: str) -> dict[str, Any]:
    """Return a TextMate pattern that gives each group of `match` its scope.

    A single scope applies to the whole match.
    """
    if len(scopes) == 1:
        return {"match": match, "name": f"{scopes[0]}.macaw"}
    captures = {str(place): {"name": f"{scope}.macaw"} for place, scope in enumerate(scopes, 1)}
    return {"match": match, "captures": captures}


def _statement(begin: str, scope: str) -> dict[str, Any]:
    """Return a pattern for a statement, from its first word up to `;` or the line's end.

    `begin` is a regular expression; its group 1 is the first word, which gets the scope `scope`.
    """
    return {
        "begin": begin,
        "beginCaptures": {"1": {"name": f"{scope}.macaw"}},
        "end": r"(?=;)|$",
        "patterns": [{"include": "#comment"}, {"include": "#operand"}],
    }


def _heads() -> list[dict[str, Any]]:
    """Return the patterns for the statements, by their first words."""
    mnemonics = [
        _statement(_one_of(core.mnemonics), f"keyword.mnemonic.{name}")
        for name, core in words.every().items()
        if core.mnemonics
    ]
    directives = words.directives().union(*(core.directives for core in words.every().values()))
    return [
        _statement(rf"({_NAME})(?=\s*=)", "variable.other.constant"),
        _statement(rf"({words.QUOTED})(?=\s*=)", "string.quoted.double"),
        _move(),
        _statement(_one_of(directives), "keyword.control.directive"),
        *mnemonics,
        _statement(rf"({_NAME})", "entity.name.function.macro"),
    ]


def _move() -> dict[str, Any]:
    """Return a pattern for an instruction written as a move, such as `rz <- rop * iosa[4]`."""
    operand = {"include": "#operand"}
    return {
        **_statement(rf"({_NAME})(?=(?:[ \t]*\[[^\]]*\])?[ \t]*{columns.ARROW})", _REGISTER),
        "patterns": [
            {"include": "#comment"},
            {"begin": r"\[", "end": r"\]|$", "patterns": [operand]},
            _rule(rf"({_NAME})(?=[ \t]*\()", "support.function"),
            _rule(_NAME, _REGISTER),
            operand,
        ],
    }


def _one_of(names: Iterable[str]) -> str:
    return rf"({words.alternatives(names)}){_END_OF_WORD}"


def _comments() -> list[dict[str, Any]]:
    return [
        {"begin": r"/\*", "end": r"\*/", "name": "comment.block.macaw"},
        {"match": r"(#|//).*$", "name": "comment.line.macaw"},
    ]


def _operands() -> list[dict[str, Any]]:
    return [
        {
            "begin": '"',
            "end": '"|$',
            "name": "string.quoted.double.macaw",
            "patterns": [_rule(r"\\(x[0-9A-Fa-f]+|[0-7]{1,3}|.)", "constant.character.escape")],
        },
        _rule(words.terminal("CHARACTER"), "string.quoted.single"),
        _rule(r"\\(?:[A-Za-z_.$][\w.$]*|@|\(\)|\+)", "variable.parameter"),
        _rule(words.terminal("FUNCTION"), "support.function"),
        _rule(words.terminal("LOCAL"), _LABEL),
        _rule(words.terminal("INTEGER"), "constant.numeric.integer"),
        _rule(words.terminal("REAL"), "constant.numeric.float"),
        _rule(rf"({_NAME})(?=[ \t]*=(?!=))", "entity.other.attribute-name"),
        _rule(_word(words.registers()), _REGISTER),
        _rule(_word(words.operand_words()), "constant.language"),
        _rule(_NAME, "variable.other"),
        _rule(r"\|\||&&|[=!]=|<>|<=|>=|<<|>>|[-+*/%~!&|^<>=]", "keyword.operator"),
    ]


def _word(names: frozenset[str]) -> str:
    return rf"(?<![\w.$]){_one_of(names)}"


def files() -> Mapping[str, str]:
    """Return the files of the extension that are generated from the tables, by their names."""
    configuration = {
        "comments": {"lineComment": "#", "blockComment": ["/*", "*/"]},
        "brackets": [["(", ")"], ["[", "]"]],
        "autoClosingPairs": [["(", ")"], ["[", "]"], ['"', '"']],
        "wordPattern": r"%?[A-Za-z_.$][\w.$]*|[0-9]\w*",
    }
    return {
        "language-configuration.json": _json(configuration),
        "macaw.tmLanguage.json": _json(grammar()),
    }


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
