"""Finds the blocks of a source: macros, repetitions, conditionals, parts, sequences, comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from macaw.asm.editing.source_tokens import (
    COMMENT_TEXT,
    DIRECTIVE,
    SourceTokens,
    Token,
    TokenLine,
    head_of,
)
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import registry

MACRO, REPETITION, CONDITIONAL, PART, BODY = "macro", "repetition", "conditional", "part", "body"
COMMENT = "comment"
_END_OF = {
    ".macro": (MACRO, ".endm"),
    ".rept": (REPETITION, ".endr"),
    ".irp": (REPETITION, ".endr"),
    ".irpc": (REPETITION, ".endr"),
}
_BRANCHES = (".else", ".elseif")
_PART = ".core"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of lines, from offset `start` in its first line to offset `end` in its last line.

    `statement` is the block's first statement; it is empty if the block is a comment.
    """

    kind: str
    start: int
    end: int
    statement: tuple[Token, ...] = ()


@dataclass(slots=True)
class _Open:
    kind: str
    end_word: str
    start: int
    statement: tuple[Token, ...]


@cache
def _openers() -> Mapping[str, tuple[str, str]]:
    """Return (kind of the block, word that ends it) for each directive that begins a block."""
    conditionals = {name: (CONDITIONAL, ".endif") for name in TEXT_DIRECTIVES if name[:3] == ".if"}
    own = {
        row.name: (BODY, row.end) for core in registry.cores() for row in core.directives if row.end
    }
    return {**own, **conditionals, **_END_OF}


def blocks(tokens: SourceTokens) -> list[Block]:
    """Return the blocks of a text, in the order of their starts.

    A block without an end reaches to the last line. A conditional with `.else` gives one block for
    each branch.
    """
    result: list[Block] = []
    stack: list[_Open] = []
    part: _Open | None = None
    last_end = 0
    for line in tokens.lines:
        for statement in line.statements():
            head = head_of(statement)
            word = head.text if head is not None else ""
            if word == _PART:
                if part is not None:
                    result.append(Block(PART, part.start, last_end, part.statement))
                part = _Open(PART, "", line.start, statement)
            elif word in _BRANCHES and stack and stack[-1].kind == CONDITIONAL:
                opened = stack[-1]
                result.append(Block(CONDITIONAL, opened.start, last_end, opened.statement))
                stack[-1] = _Open(CONDITIONAL, opened.end_word, line.start, statement)
            elif word in _openers() and head is not None and head.role == DIRECTIVE:
                kind, end_word = _openers()[word]
                stack.append(_Open(kind, end_word, line.start, statement))
            elif any(opened.end_word == word for opened in stack):
                while stack:
                    opened = stack.pop()
                    result.append(Block(opened.kind, opened.start, line.end, opened.statement))
                    if opened.end_word == word:
                        break
        if line.text.strip():
            last_end = line.end
    unfinished = [*([part] if part is not None else []), *stack]
    result += [Block(x.kind, x.start, last_end, x.statement) for x in unfinished]
    return sorted([*result, *_comments(tokens)], key=lambda block: (block.start, -block.end))


def _comments(tokens: SourceTokens) -> Iterator[Block]:
    """Yield a block for each comment over several lines, and for consecutive comment lines."""
    run: list[TokenLine] = []
    for line in tokens.lines:
        if line.tokens and all(token.role == COMMENT_TEXT for token in line.tokens):
            run.append(line)
            continue
        yield from _run(run)
        run = []
        for token in line.tokens:
            if token.role == COMMENT_TEXT and "\n" in token.text:
                yield Block(COMMENT, line.start + token.start, line.start + token.end)
    yield from _run(run)


def _run(lines: Sequence[TokenLine]) -> Iterator[Block]:
    if lines and (len(lines) > 1 or "\n" in lines[0].text):
        yield Block(COMMENT, lines[0].start, lines[-1].end)


def around(tokens: SourceTokens, offset: int, kinds: Sequence[str]) -> list[Block]:
    """Return the blocks of these kinds that contain an offset, the outermost first."""
    return [
        block
        for block in blocks(tokens)
        if block.kind in kinds and block.start <= offset <= block.end
    ]
