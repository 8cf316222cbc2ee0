"""Chooses names by an expression of words with `and`, `or`, `not` and parentheses, as pytest -k.

A word is true for a name that contains it. Upper and lower case are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from macaw.errors import InputError

Predicate = Callable[[str], bool]
_TOKEN = re.compile(r"[ \t]*(?P<text>[()]|[\w:+\-.\[\]\\/=]+)?")
_OPERATORS = ("and", "or", "not")
MOST_NESTED = 100  # parentheses and `not`s around a word


def parse(text: str) -> Predicate:
    """Return a function that takes a name and returns whether the expression `text` chooses it.

    An empty expression chooses all names. Raises `InputError` with the column of a mistake.
    """
    tokens = _tokens(text)
    if tokens[0].text == "":
        return lambda name: True
    parser = _Parser(text, tokens)
    predicate = parser.either()
    parser.expect("")
    return predicate


@dataclass(frozen=True)
class _Token:
    text: str  # empty at the end
    column: int  # from 1


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # it may be empty
        start, word = match.start("text"), match["text"]
        if word is None:
            at = match.end()
            if at < len(text):
                raise _error(text, at + 1, f"unexpected character '{text[at]}'")
            return [*tokens, _Token("", at + 1)]
        tokens.append(_Token(word, start + 1))
        at = match.end()


def _error(text: str, column: int, what: str) -> InputError:
    return InputError(
        f"-k '{text}': column {column}: {what}", "for example 'conv and not (gru or lstm)'"
    )


class _Parser:
    """A recursive-descent parser of expressions. `not` binds tightest, then `and`, then `or`."""

    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self.text, self.tokens, self.place, self.depth = text, tokens, 0, 0

    def accept(self, word: str) -> bool:
        """Skip the next token if it is `word`, and return whether it is `word`."""
        found = self.tokens[self.place].text == word
        self.place += found
        return found

    def expect(self, word: str) -> None:
        """Skip the next token. Raises `InputError` unless it is `word`.

        If `word` is empty, the next token must be the end of the text, and is not skipped.
        """
        token = self.tokens[self.place]
        if token.text != word:
            wanted = f"'{word}'" if word else "'and', 'or' or the end"
            got = f"'{token.text}'" if token.text else "the end"
            raise _error(self.text, token.column, f"expected {wanted}, got {got}")
        self.place += bool(word)

    def either(self) -> Predicate:
        """Parse terms with `or` between them, and return their disjunction."""
        terms = [self.all_of()]
        while self.accept("or"):
            terms.append(self.all_of())
        return lambda name: any(term(name) for term in terms)

    def all_of(self) -> Predicate:
        """Parse factors with `and` between them, and return their conjunction."""
        factors = [self.one()]
        while self.accept("and"):
            factors.append(self.one())
        return lambda name: all(factor(name) for factor in factors)

    def one(self) -> Predicate:
        """Parse a word, an expression in parentheses, or `not` before either of them."""
        token = self.tokens[self.place]
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise _error(self.text, token.column, f"more than {MOST_NESTED} levels")
        if self.accept("not"):
            inner = self.one()
            predicate = _negation(inner)
        elif self.accept("("):
            predicate = self.either()
            self.expect(")")
        else:
            if token.text in ("", ")", *_OPERATORS):
                got = f"'{token.text}'" if token.text else "the end"
                raise _error(self.text, token.column, f"expected a word, 'not' or '(', got {got}")
            self.place += 1
            word = token.text.lower()
            predicate = partial(_contains, word)
        self.depth -= 1
        return predicate


def _negation(inner: Predicate) -> Predicate:
    return lambda name: not inner(name)


def _contains(word: str, name: str) -> bool:
    """Return whether a name contains a word, which is in lower case."""
    return word in name.lower()
