"""A Pygments lexer for Macaw assembly, for `pygmentize -l macaw`, Sphinx and Macaw's listings.

It tracks statements and the core of each part, because the role of a word depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from macaw.asm import columns, source
from macaw.asm.editors import words

Token = tuple[int, _TokenType, str]

MNEMONIC, MACRO = Name.Function, Name.Function.Magic
DIRECTIVE, REGISTER, WORD = Name.Attribute, Name.Variable, Keyword.Constant
NAMED, FUNCTION, LABEL, SYMBOL = Name.Property, Name.Builtin, Name.Label, Name
ARGUMENT = Name.Variable.Instance  # \x in the body of a macro

_NAME = words.terminal("NAME")
_LABEL = re.compile(rf"({_NAME}|[0-9]+|{words.QUOTED})(\s*)(:)")
_HEAD = re.compile(_NAME)
_SET = re.compile(rf"{words.QUOTED}(?=[ \t]*=)")
_ASSIGNED = re.compile(r"[ \t]*=(?!=)")
_ASSIGNMENT = re.compile(r"[ \t]*==?")  # after the first word of a statement
_INDEX = r"(?:[ \t]*\[[^\]\n]*\])?"
_MOVED = re.compile(rf"{_INDEX}[ \t]*{re.escape(columns.ARROW)}")
_CALLED = re.compile(r"[ \t]*\(")
_OPERAND = re.compile(
    "|".join(
        f"(?P<{group}>{pattern})"
        for group, pattern in (
            ("string", source.STRING),
            ("character", source.CHARACTER),
            ("argument", r"\\(?:[A-Za-z_.$][\w.$]*|@|\(\)|\+)"),
            ("function", words.terminal("FUNCTION")),
            ("local", words.terminal("LOCAL")),
            ("integer", words.terminal("INTEGER")),
            ("real", words.terminal("REAL")),
            ("bad", r"[0-9][\w.$]*"),
            ("name", _NAME),
            ("here", r"\."),
            ("operator", r"\|\||&&|[=!]=|<>|<=|>=|<<|>>|[-+*/%~!&|^<>=@]"),
            ("mark", r"[,()\[\]:]"),
        )
    )
)
_COMMENT = re.compile(source.COMMENT)
_BLANKS = re.compile(r"[^\S\n]+")
_PLAIN = {
    "character": String.Char,
    "argument": ARGUMENT,
    "function": FUNCTION,
    "local": LABEL,
    "real": Number.Float,
    "here": Name.Builtin.Pseudo,
    "operator": Operator,
    "mark": Punctuation,
    "bad": Error,
}


class MacawLexer(Lexer):
    """The Pygments lexer. The option `core` gives the core of an excerpt without a `.core` line."""

    name = "Macaw assembly"
    aliases: ClassVar[list[str]] = ["macaw"]
    filenames: ClassVar[list[str]] = ["*.s"]
    priority = -0.1  # a .s file may be of another language, whose lexer comes first
    mimetypes: ClassVar[list[str]] = ["text/x-macaw"]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.core: str | None = options.get("core")

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """Yield (offset, type, text) for each token; joined, the texts are `text`."""
        return Scan(text, self.core).tokens()

    @staticmethod
    def analyse_text(text: str) -> float:
        """Return the likelihood that a text is Macaw assembly: 0.9 with a `.core` line, else 0."""
        cores = "|".join(words.every())
        return 0.9 if re.search(rf"^\s*\.core\s+({cores})\b", text, re.MULTILINE) else 0.0


class Scan:
    """Divides a text into tokens, from its start to its end.

    When the caller receives a token, `core`, `head` and `named` describe the statement around it.
    """

    def __init__(self, text: str, core: str | None) -> None:
        self.text, self.core = text, core
        self.head: str | None = None  # the statement's first word, `=` or `<-`; None before it
        self.depth = 0  # depth of brackets in the statement
        self.indices = 0  # the number of open square brackets
        self.named = ""  # `data=` while the scan is in the value of this operand

    def tokens(self) -> Iterator[Token]:
        text, at = self.text, 0
        while at < len(text):
            for token in self._next(at):
                yield token
                at = token[0] + len(token[2])

    def _next(self, at: int) -> Iterator[Token]:
        """Yield the token or tokens that begin at offset `at`."""
        char = self.text[at]
        if char in "\n;":
            self.head, self.depth, self.indices, self.named = None, 0, 0, ""
            yield at, Whitespace if char == "\n" else Punctuation, char
        elif match := _BLANKS.match(self.text, at):
            yield at, Whitespace, match[0]
        elif match := _COMMENT.match(self.text, at):
            kind = Comment.Multiline if match[0].startswith("/*") else Comment.Single
            yield at, kind, match[0]
        elif self.head is None:
            yield from self._begin(at)
        else:
            yield self._operand(at)

    def _begin(self, at: int) -> Iterator[Token]:
        """Yield the tokens of a label or of the first word of a statement."""
        if label := _LABEL.match(self.text, at):
            yield at, LABEL, label[1]
            if label[2]:
                yield label.start(2), Whitespace, label[2]
            yield label.start(3), Punctuation, ":"
            return
        match = _HEAD.match(self.text, at)
        if match is None:
            self.head = "=" if _SET.match(self.text, at) else ""
            yield self._operand(at)
            return
        word = match[0]
        if _ASSIGNMENT.match(self.text, match.end()):
            self.head = "="
            yield at, SYMBOL, word
            return
        if _MOVED.match(self.text, match.end()):
            self.head = columns.ARROW
            yield at, REGISTER, word
            return
        self.head = word
        yield at, self._head_kind(word), word

    def _known(self) -> list[words.CoreWords]:
        """Return the words of the part's core; before the first part, the words of every core."""
        every = words.every()
        mine = every.get(self.core or "")
        return [mine] if mine else list(every.values())

    def _head_kind(self, word: str) -> _TokenType:
        cores = self._known()
        if word in words.directives() or any(word in core.directives for core in cores):
            return DIRECTIVE
        return MNEMONIC if any(word in core.mnemonics for core in cores) else MACRO

    def _operand(self, at: int) -> Token:
        match = _OPERAND.match(self.text, at)
        if match is None:
            return at, Error, self.text[at]
        kind, word = str(match.lastgroup), match[0]
        if kind == "mark":
            self._bracket(word)
        if kind == "name":
            return at, self._name_kind(word, match.end()), word
        if kind == "integer":
            return at, _integer_kind(word), word
        if kind == "string":
            closed = len(word) > 1 and word.endswith('"')
            return at, String.Double if closed else Error, word
        return at, _PLAIN[kind], word

    def _bracket(self, mark: str) -> None:
        """Track the depth of brackets, to find the end of an operand."""
        self.depth += (mark in "([") - (mark in ")]")
        self.indices += (mark == "[") - (mark == "]")
        if mark == "," and self.depth <= 0:
            self.named = ""

    def _name_kind(self, word: str, end: int) -> _TokenType:
        head = self.head or ""
        if head == columns.ARROW:  # an instruction written as a move
            if self.indices:
                return SYMBOL
            return FUNCTION if _CALLED.match(self.text, end) else REGISTER
        if _ASSIGNED.match(self.text, end):
            self.named = self.named if self.depth > 0 else f"{word}="
            return NAMED
        if word in words.of_directive().get(head, ()):
            if head == words.CORE:
                self.core = word
            return WORD
        for core in self._known():
            if self.named and self.named in core.carried.get(head, ()):
                return WORD if word in core.records else SYMBOL
            if head in core.mnemonics and word in core.of_mnemonic[head]:
                return WORD
            if head in core.mnemonics and word in core.registers:
                return REGISTER
            if head in core.directives and word in core.records:
                return WORD
            if self._head_kind(head) is MACRO and word in core.registers:
                return REGISTER
        return SYMBOL


def _integer_kind(word: str) -> _TokenType:
    if word[:2] in ("0x", "0X"):
        return Number.Hex
    if word[:2] in ("0b", "0B"):
        return Number.Bin
    return Number.Oct if word.startswith("0") and word != "0" else Number.Integer
