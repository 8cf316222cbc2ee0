"""What a command takes, read from the line that describes it: `break LOC [if E] [ignore N]`.

That line is the grammar, the help and what completion offers. It is made of operands (capitals),
words that stand for themselves, `[...]` for what may be left out, and `...` behind an operand that
may come several times. `a|b` is a choice of words, `a|N` of a word or an operand.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

# What operands are: up to where one goes, and what is said when it is missing. An expression or
# location ends before a word of the usage; a file or a word at white space.
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
LONG = frozenset({"E", "V", "LOC", "PLACES", "CYCLE"})  # may hold spaces
REST = frozenset({"TEXT", "COMMAND"})  # all that is left of the line
EQUALS = "="  # the one word that needs no spaces around it

_PARTS = re.compile(r"\[|\]|\.\.\.|[^\s\[\].]+")


class UsageError(ValueError):
    """A line that does not fit its command; `at` is where, in characters of the arguments."""

    def __init__(self, message: str, at: tuple[int, int]) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Piece:
    """A part of a usage: an operand, words of which one is given, or a group of pieces."""

    operand: str = ""
    words: tuple[str, ...] = ()
    group: tuple[Piece, ...] = ()
    optional: bool = False
    several: bool = False

    @property
    def begins(self) -> tuple[str, ...]:
        """The words and the operand of which one is given."""
        return (*self.words, self.operand) if self.operand else self.words


@lru_cache(maxsize=256)
def pieces(usage: str) -> tuple[Piece, ...]:
    """The pieces behind a command's name. Raises `ValueError` for a usage that is none."""
    tokens = _PARTS.findall(usage)[1:]
    return tuple(_read(iter(tokens), ""))


def _read(tokens: Iterator[str], until: str) -> list[Piece]:
    found: list[Piece] = []
    for token in tokens:
        if token == until:
            return found
        if token == "[":
            group = _read(tokens, "]")
            if len(group) == 1 and not group[0].group:
                only = group[0]
                found.append(Piece(only.operand, only.words, (), True, only.several))
            else:
                found.append(Piece(group=tuple(group), optional=True))
        elif token == "...":
            last = found.pop()
            found.append(Piece(last.operand, last.words, last.group, last.optional, True))
        elif token in OPERANDS:
            found.append(Piece(operand=token))
        elif token.isupper():
            raise ValueError(f"no operand is called {token}")
        else:
            words = token.split("|")  # of `last|N` a word, or else an operand
            operand = words.pop() if words[-1] in OPERANDS else ""
            found.append(Piece(operand, tuple(words)))
    if until:
        raise ValueError(f"a usage lacks its {until}")
    return found


@dataclass(frozen=True)
class Argument:
    """An operand or word that a line gives, and where in the arguments it stands."""

    what: str
    text: str
    at: tuple[int, int]
    piece: Piece


def match(usage: str, text: str) -> tuple[Argument, ...]:
    """What the arguments `text` give for the pieces of a usage. Raises `UsageError`."""
    return tuple(_Matcher(text, pieces(usage)).all())


class _Matcher:
    def __init__(self, text: str, wanted: tuple[Piece, ...]) -> None:
        self.text = text
        self.wanted = wanted
        self.at = 0
        self.found: list[Argument] = []

    def all(self) -> list[Argument]:
        self._sequence(self.wanted, ())
        self._skip()
        if self.at < len(self.text):
            more = self.text[self.at :].strip()
            at = (self.at, self.at + len(more))
            takes = "takes nothing more" if self.wanted else "the command takes nothing"
            raise UsageError(f"'{more}' is too much: {takes}", at)
        return self.found

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _sequence(self, wanted: tuple[Piece, ...], behind: tuple[str, ...]) -> None:
        for number, piece in enumerate(wanted):
            ends = (*_words_of(wanted[number + 1 :]), *behind)
            self._piece(piece, ends)

    def _piece(self, piece: Piece, ends: tuple[str, ...]) -> None:
        while True:
            self._skip()
            if piece.optional and not self._begins(piece, ends):
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
        """Whether the text goes on with an optional piece."""
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
        found = re.match(r"\S+", self.text[self.at :])
        return found.group() if found else ""

    def _word(self, piece: Piece) -> None:
        word = self._next_word()
        if piece.words == (EQUALS,) and word.startswith(EQUALS):
            word = EQUALS  # as in `set a0=5`
        chosen = [one for one in piece.words if one == word]
        if not chosen and word:
            chosen = [one for one in piece.words if one.startswith(word)]
        if len(chosen) != 1:
            known = ", ".join(piece.words)
            at = (self.at, self.at + max(1, len(word)))
            raise UsageError(f"'{word}' is not one of {known}" if word else f"give {known}", at)
        self.found.append(Argument("word", chosen[0], (self.at, self.at + len(word)), piece))
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
            self.found.append(
                Argument(piece.operand, self.text[begin + 1 : end - 1], (begin, end), piece)
            )
            self.at = end
            return
        else:
            end = begin + len(self._next_word())
        text = self.text[begin:end].rstrip()
        if not text and piece.operand not in REST:
            raise UsageError(f"{OPERANDS[piece.operand]} is needed", (begin, begin + 1))
        self.found.append(Argument(piece.operand, text, (begin, begin + len(text)), piece))
        self.at = end

    def _end_of_expression(self, ends: tuple[str, ...]) -> int:
        """Behind an expression: at a word that ends it, outside of brackets and strings."""
        depth, quote = 0, ""
        stops = {word for word in ends if word not in OPERANDS}
        last = "FILE" in ends  # a file's name is the last word, whatever stands before it
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
    """Whether the = there is no part of a comparison."""
    return (
        text[place - 1 : place] not in {"=", "!", "<", ">"}
        and text[place + 1 : place + 2] != EQUALS
    )


def quoted(name: str) -> str:
    """A file's name as a line has it, in quotation marks if it needs some."""
    if name and not any(char.isspace() for char in name) and name[0] not in "\"'":
        return name
    return f'"{name}"' if "'" in name else f"'{name}'"


def _is_word(text: str) -> bool:
    """Whether a text is one word, or one in quotation marks."""
    if text[:1] in ("'", '"'):
        return text.find(text[0], 1) == len(text) - 1
    return len(text.split()) == 1


def _words_of(wanted: tuple[Piece, ...]) -> tuple[str, ...]:
    """Words that may come first of what follows; an operand that must come is named."""
    found: list[str] = []
    for piece in wanted:
        first = piece.group[0] if piece.group else piece
        found += first.begins
        if not piece.optional:
            break
    return tuple(found)


def expected(usage: str, text: str) -> tuple[str, ...]:
    """What may stand at the end of the arguments `text`: operands' names and words.

    The last word of `text` is taken as unfinished unless white space follows it.
    """
    head = text if not text or text[-1].isspace() else text[: len(text) - len(text.split()[-1])]
    wanted = pieces(usage)
    try:
        given = list(match(usage, head))
    except UsageError:
        given = _as_far(usage, head)
    return _following(wanted, given, head)


def _as_far(usage: str, text: str) -> list[Argument]:
    matcher = _Matcher(text, pieces(usage))
    with contextlib.suppress(UsageError):
        matcher.all()
    return matcher.found


def _following(wanted: tuple[Piece, ...], found: list[Argument], head: str) -> tuple[str, ...]:
    flat = list(_flat(wanted))
    place = 0
    names: list[str] = []
    if found:
        last = next(at for at, step in enumerate(flat) if step.piece is found[-1].piece)
        place, piece = last + 1, flat[last].piece
        if piece.several or (piece.operand in LONG and head.strip()):
            names.append(piece.operand)  # once more; an expression may go on
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
    """A piece without groups; `beyond`: how far it is to what may come in its place, 0: nothing."""

    piece: Piece
    beyond: int


def _flat(wanted: tuple[Piece, ...]) -> Iterator[_Step]:
    for piece in wanted:
        if piece.group:
            inner = list(_flat(piece.group))
            yield _Step(inner[0].piece, len(inner) if piece.optional else inner[0].beyond)
            yield from inner[1:]
        else:
            yield _Step(piece, int(piece.optional))
