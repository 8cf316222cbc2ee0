"""Applies a TextMate grammar to lines. The engine of its regular expressions is Oniguruma.

The module implements the keys of the format that Macaw's grammar uses: match, begin, end, captures,
include, names. `make test-extras` compares it with VS Code's engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import onigurumacffi

Rule = Mapping[str, Any]
Piece = tuple[int, int, str]


@cache
def _compiled(pattern: str) -> Any:
    return onigurumacffi.compile(pattern)


class Engine:
    """A grammar, and the rules that are open at the end of the last line."""

    def __init__(self, grammar: Rule) -> None:
        self.grammar = grammar
        self.stack: list[Rule] = []

    def _patterns(self, patterns: list[Rule]) -> Iterator[Rule]:
        for rule in patterns:
            if "include" in rule:
                inside = self.grammar["repository"][rule["include"].removeprefix("#")]
                yield from self._patterns(inside["patterns"])
            else:
                yield rule

    def line(self, text: str) -> list[Piece]:
        """The innermost scope of each piece of a line, its line end included."""
        text += "\n"
        at, pieces = 0, []
        while at < len(text):
            rule, found = self._first(text, at)
            scope = str(self.stack[-1].get("name", "")) if self.stack else ""
            end = found.start() if found else len(text)
            if end > at:
                pieces.append((at, end, scope))
            if found is None:
                break
            pieces += self._taken(rule, found)
            at = found.end()
        return pieces

    def _first(self, text: str, at: int) -> tuple[Rule | None, Any]:
        """Return the rule whose match begins first after `at`, and the match.

        The rule is None at the end of the open rule, or if nothing matches. If several matches
        begin at the same place, the end of the open rule wins, then the first rule of the list.
        """
        rule = self.stack[-1] if self.stack else self.grammar
        best, chosen = None, None
        if self.stack:
            best = _compiled(rule["end"]).search(text, start=at)
        for item in self._patterns(rule.get("patterns", [])):
            found = _compiled(item.get("match") or item["begin"]).search(text, start=at)
            if found and (best is None or found.start() < best.start()):
                best, chosen = found, item
        return chosen, best

    def _taken(self, rule: Rule | None, found: Any) -> list[Piece]:
        if rule is None:
            scope = str(self.stack.pop().get("name", ""))
            return [(found.start(), found.end(), scope)] if found.end() > found.start() else []
        captures = rule.get("captures") or rule.get("beginCaptures") or {}
        if "begin" in rule:
            self.stack.append(rule)
        pieces = [
            (found.start(int(number)), found.end(int(number)), item["name"])
            for number, item in captures.items()
        ]
        return pieces or [(found.start(), found.end(), str(rule.get("name", "")))]
