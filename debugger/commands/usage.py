"""Parses a command's arguments by its usage line: `break LOC [if E] [ignore N]`.

Parser, help and completion use the same usage line. A usage line has operands in capitals, literal
words, `[...]` around optional pieces, and `...` after an operand that may be repeated. `a|b` stands
for one of two words, `a|N` for a word or an operand.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# Operands, each with the message for a missing one. Those in `LONG` end before a word of the usage,
# those in `REST` at the end of the line, and others at white space.
OPERANDS: Mapping[str, str] = {
    "N": "a number",
    "E": "an expression",
    "V": "an expression",
    "LOC": "a place to stop at: a line, FILE:LINE, a symbol or *ADDRESS",
    "PLACES": "a core, a unit of it, or several with *",
    "CYCLE": "a cycle",
    "FILE": "the name of a file",
    "EVENT": "an event",
    "NAME": "a name",
    "TEXT": "text",
    "COMMAND": "a command",
}
LONG = frozenset({"E", "V", "LOC", "PLACES", "CYCLE"})  # operands that may contain spaces
REST = frozenset({"TEXT", "COMMAND"})  # operands that take the whole rest of the line
EQUALS = "="  # a word that needs no spaces around it

_PARTS = re.compile(r"\[|\]|\.\.\.|[^\s\[\].]+")


class UsageError(ValueError):
    """Raised if the arguments of a command do not match its usage line.

    `at` is the range (start, end) of the wrong part, in characters of the arguments.
    """

    def __init__(self, message: str, at: tuple[int, int]) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Piece:
    """A piece of a usage line: an operand, a choice of words, or a group of pieces.

    A piece with words and an operand is a choice among all of them. If `several` is true, the piece
    may be repeated.
    """

    operand: str = ""
    words: tuple[str, ...] = ()
    group: tuple[Piece, ...] = ()
    optional: bool = False
    several: bool = False

    @property
    def begins(self) -> tuple[str, ...]:
        """The words that can begin the piece, and the name of an operand that can begin it."""
        return (*self.words, self.operand) if self.operand else self.words


@lru_cache(maxsize=256)
def pieces(usage: str) -> tuple[Piece, ...]:
    """Parse a usage line, such as `break LOC [if E]`.

    Return the pieces of the line: operands, words and groups, without the command's name. Raises
    `ValueError` if the usage line is malformed.
    """
    tokens = _PARTS.findall(usage)[1:]
    return tuple(_read(iter(tokens), ""))


def _read(tokens: Iterator[str], until: str) -> list[Piece]:
    row: list[Piece] = []
    for token in tokens:
        if token == until:
            return row
        if token == "[":
            group = _read(tokens, "]")
            if len(group) == 1 and not group[0].group:
                only = group[0]
                row.append(Piece(only.operand, only.words, (), True, only.several))
            else:
                row.append(Piece(group=tuple(group), optional=True))
        elif token == "...":
            last = row.pop()
            row.append(Piece(last.operand, last.words, last.group, last.optional, True))
        elif token in OPERANDS:
            row.append(Piece(operand=token))
        elif token.isupper():
            raise ValueError(f"no operand is called {token}")
        else:
            words = token.split("|")  # `last|N`: the last choice may be an operand
            operand = words.pop() if words[-1] in OPERANDS else ""
            row.append(Piece(operand, tuple(words)))
    if until:
        raise ValueError(f"a usage lacks its {until}")
    return row


@dataclass(frozen=True)
class Argument:
    """An operand or a word among a command's arguments.

    `what` is the name of the operand, or "word". `at` is the range (start, end) in characters of
    the arguments.
    """

    what: str
    text: str
    at: tuple[int, int]
    piece: Piece


def match(usage: str, text: str) -> tuple[Argument, ...]:
    """Divide the arguments `text` of a command into the operands and words of its usage line.

    Raises `UsageError` if the arguments do not match.
    """
    return tuple(_Matcher(text, pieces(usage)).all())


class _Matcher:
    def __init__(self, text: str, usage: tuple[Piece, ...]) -> None:
        self.text = text
        self.usage = usage
        self.at = 0
        self.declined = -1  # the last offset at which an optional number was not there
        self.arguments: list[Argument] = []

    def all(self) -> list[Argument]:
        self._sequence(self.usage, ())
        self._skip()
        if self.at < len(self.text):
            more = self.text[self.at :].strip()
            at = (self.at, self.at + len(more))
            if self.declined == self.at:
                word = self._next_word()
                raise UsageError(f"'{word}' is no number", (self.at, self.at + len(word)))
            takes = "the command takes nothing" + (" more" if self.usage else "")
            raise UsageError(f"'{more}' is too much: {takes}", at)
        return self.arguments

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _sequence(self, usage: tuple[Piece, ...], behind: tuple[str, ...]) -> None:
        for number, piece in enumerate(usage):
            ends = (*_words_of(usage[number + 1 :]), *behind)
            self._piece(piece, ends)

    def _piece(self, piece: Piece, ends: tuple[str, ...]) -> None:
        while True:
            self._skip()
            if piece.optional and not self._begins(piece, ends):
                self.declined = self.at if piece.operand == "N" else self.declined
                return
            if piece.group:
                self._sequence(piece.group, ends)
            elif piece.words and not (piece.operand and self._next_word() not in piece.words):
                self._word(piece)
            else:
                self._operand(piece, ends)
            if not piece.several:
                return
            self._skip()
            if self.at >= len(self.text):
                return

    def _begins(self, piece: Piece, ends: tuple[str, ...]) -> bool:
        """Return whether the arguments continue with the optional piece `piece`.

        `ends` has the words with which the pieces after this piece may start.
        """
        if self.at >= len(self.text):
            return False
        first, word = piece.group[0] if piece.group else piece, self._next_word()
        if first.words and not first.operand:
            return word in first.words
        if word in first.words:
            return True
        if first.operand == "N":
            return word[0] in "0123456789("
        return word not in ends

    def _next_word(self) -> str:
        match = re.match(r"\S+", self.text[self.at :])
        return match.group() if match else ""

    def _word(self, piece: Piece) -> None:
        word = self._next_word()
        if piece.words == (EQUALS,) and word.startswith(EQUALS):
            word = EQUALS  # as in `set a0=5`
        chosen = [one for one in piece.words if one == word]
        if not chosen and word:
            chosen = [one for one in piece.words if one.startswith(word)]
        if len(chosen) != 1:
            choices = ", ".join(piece.words)
            at = (self.at, self.at + max(1, len(word)))
            raise UsageError(f"'{word}' is not one of {choices}" if word else f"give {choices}", at)
        self.arguments.append(Argument("word", chosen[0], (self.at, self.at + len(word)), piece))
        self.at += len(word)

    def _operand(self, piece: Piece, ends: tuple[str, ...]) -> None:
        begin = self.at
        if begin >= len(self.text) and piece.operand not in REST:
            raise UsageError(f"{OPERANDS[piece.operand]} is needed", (begin, begin + 1))
        if piece.operand in REST:
            end = len(self.text)
        elif piece.operand in LONG and not piece.several:
            end = self._end_of_expression(ends)
        elif self.text[begin] in "\"'":
            end = self.text.find(self.text[begin], begin + 1) + 1
            if not end:
                raise UsageError("a quotation mark is not closed", (begin, begin + 1))
            self.arguments.append(
                Argument(piece.operand, self.text[begin + 1 : end - 1], (begin, end), piece)
            )
            self.at = end
            return
        else:
            end = begin + len(self._next_word())
        text = self.text[begin:end].rstrip()
        if not text and piece.operand not in REST:
            raise UsageError(f"{OPERANDS[piece.operand]} is needed", (begin, begin + 1))
        self.arguments.append(Argument(piece.operand, text, (begin, begin + len(text)), piece))
        self.at = end

    def _end_of_expression(self, ends: tuple[str, ...]) -> int:
        """Return the offset at which the expression at the present offset ends.

        An expression ends before a word in `ends` that is outside of brackets and strings. If the
        operand FILE is in `ends`, it also ends before the last word of the arguments.
        """
        depth, quote = 0, ""
        stops = {word for word in ends if word not in OPERANDS}
        last = "FILE" in ends  # the last word is the name of a file
        for place in range(self.at, len(self.text)):
            letter = self.text[place]
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == EQUALS and EQUALS in stops and depth <= 0:
                if _stands_alone(self.text, place):
                    return place
            elif letter.isspace() and depth <= 0:
                rest = self.text[place:].split(None, 1)
                if rest and rest[0] in stops:
                    return place
                if last and _is_word(self.text[place:].strip()):
                    return place
        return len(self.text)


def _stands_alone(text: str, place: int) -> bool:
    """Return whether the `=` at offset `place` is not part of an operator such as `==`."""
    return (
        text[place - 1 : place] not in {"=", "!", "<", ">"}
        and text[place + 1 : place + 2] != EQUALS
    )


def quote(name: str) -> str:
    """Return a file's name as a command line needs it, in quotation marks if necessary."""
    if name and not any(char.isspace() for char in name) and name[0] not in "\"'":
        return name
    return f'"{name}"' if "'" in name else f"'{name}'"


def _is_word(text: str) -> bool:
    """Return whether a text is one word, or one string in quotation marks."""
    if text[:1] in ("'", '"'):
        return text.find(text[0], 1) == len(text) - 1
    return len(text.split()) == 1


def _words_of(usage: tuple[Piece, ...]) -> tuple[str, ...]:
    """Return the words, and the names of operands, with which the pieces `usage` may start."""
    words: list[str] = []
    for piece in usage:
        first = piece.group[0] if piece.group else piece
        words += first.begins
        if not piece.optional:
            break
    return tuple(words)


def next_operands(usage: str, text: str) -> tuple[str, ...]:
    """Return the words, and names of operands, that may follow or complete the arguments `text`.

    If `text` does not end with white space, its last word counts as incomplete.
    """
    head = text if not text or text[-1].isspace() else text[: len(text) - len(text.split()[-1])]
    parts = pieces(usage)
    try:
        arguments = list(match(usage, head))
    except UsageError:
        arguments = _as_far(usage, head)
    return _following(parts, arguments, head)


def _as_far(usage: str, text: str) -> list[Argument]:
    matcher = _Matcher(text, pieces(usage))
    with contextlib.suppress(UsageError):
        matcher.all()
    return matcher.arguments


def _following(usage: tuple[Piece, ...], arguments: list[Argument], head: str) -> tuple[str, ...]:
    flat = list(_flat(usage))
    place = 0
    names: list[str] = []
    if arguments:
        last = next(at for at, step in enumerate(flat) if step.piece is arguments[-1].piece)
        place, piece = last + 1, flat[last].piece
        if piece.several or (piece.operand in LONG and head.strip()):
            names.append(piece.operand)  # the piece may be repeated, or the expression may continue
    following: list[str] = []
    while place < len(flat):
        step = flat[place]
        following += step.piece.begins
        if not step.beyond:
            break
        place += step.beyond
    return tuple(dict.fromkeys([*following, *names]))


@dataclass(frozen=True)
class _Step:
    """A piece in the flat list of a usage line, in which each group is replaced by its pieces.

    So `A [if B] C` becomes the four steps `A`, `if`, `B`, `C`. Where an optional piece or group
    begins, `beyond` is the number of steps to the next piece if the option is left out: 2 for `if`
    here. Otherwise `beyond` is 0.
    """

    piece: Piece
    beyond: int


def _flat(usage: tuple[Piece, ...]) -> Iterator[_Step]:
    for piece in usage:
        if piece.group:
            inner = list(_flat(piece.group))
            yield _Step(inner[0].piece, len(inner) if piece.optional else inner[0].beyond)
            yield from inner[1:]
        else:
            yield _Step(piece, int(piece.optional))
