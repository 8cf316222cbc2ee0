"""Reads a source line by line and carries out its macros, repetitions, conditionals and includes.

Lines come from the text on top of a `TextStack`. The reader carries out directives on text and
macro calls, and gives each other line to the `StatementAssembler`. The reader never
gets most of the simple lines, because the `FastPath` assembles them. The reader does not parse text
that a conditional skips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_parts import CoreParts
from macaw.asm.directives import DIRECTIVES
from macaw.asm.fast_path import FastPath
from macaw.asm.macro import Macro
from macaw.asm.macros import call_macro
from macaw.asm.replay import Replay
from macaw.asm.source import Caller, LogicalLine, SourceText, logical_lines
from macaw.asm.statement_assembler import Reinterpret, StatementAssembler
from macaw.asm.syntax import Mistake, Name
from macaw.asm.text_directive import TextDirective
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.asm.text_stack import COMMAND_COST, HEAD, Budget, Command, LimitExceeded, TextStack
from macaw.isa import registry
from macaw.isa.lazy_pattern import lazy_pattern

_ASSIGNMENT = lazy_pattern(r"\s*=(?!=)")


@cache
def directive_names() -> frozenset[str]:
    """Return the names of the directives of all parts. A call imports the tables of all cores."""
    of_cores = (row.name for core in registry.cores() for row in core.directives)
    return frozenset((*DIRECTIVES, *TEXT_DIRECTIVES, *of_cores))


class SourceReader:
    """Reads one source, with all texts that it includes or to which it expands."""

    def __init__(
        self, state: AssemblyState, parts: CoreParts, fast_path: FastPath, budget: Budget
    ) -> None:
        self._state = state
        self._fast_path = fast_path
        replay = Replay(state, fast_path.is_open)
        self._stack = TextStack(
            state, budget, replay, TEXT_DIRECTIVES, directive_names, self._lines
        )
        self._statements = StatementAssembler(state, parts, self._stack)

    def read(self, text: SourceText) -> None:
        """Read and assemble all lines of a source."""
        stack = self._stack
        stack.start(text)
        while stack.frames:
            try:
                if self._read_frame():
                    stack.next_round()
            except Reinterpret as other:
                self._reinterpret(other.line)
            except LimitExceeded as error:
                stack.unwind(error)

    def _lines(self, text: SourceText) -> Iterator[LogicalLine]:
        """Yield the logical lines of a text, except those that the fast path assembles."""
        return logical_lines(text, partial(self._unterminated, text), self._take_simple)

    def _take_simple(self, text: SourceText, start: int) -> int:
        """Assemble the simple lines from offset `start` of `text` on.

        Return the offset of the first line that the fast path has not assembled.
        """
        stack = self._stack
        if not stack.takes_statements:
            return start
        return self._fast_path.take(text, start, self._state.scope, stack.macro_words)

    def _unterminated(self, text: SourceText, offset: int) -> None:
        line = LogicalLine(text, offset, "/*")
        mistake = Mistake("a comment without an end", (0, 2), "it ends with '*/'")
        self._state.report.mistake(line, mistake)

    def _read_frame(self) -> bool:
        """Read lines of the text on top of the stack. Return whether all its lines are read.

        Return False if a line has put another text on top, or has removed this text.
        """
        stack = self._stack
        macros, conditionals, frame = stack.macros, stack.conditionals, stack.frames[-1]
        take, match_head, watch = self._statements.take, HEAD.match, self._state.watch
        for line in frame.lines:
            watch()
            if conditionals and conditionals[-1].skips:
                if line.text[0] == ".":
                    self._skip(line)
                continue
            head = match_head(line.text)
            if head is not None:
                word = head[1]
                command = TEXT_DIRECTIVES.get(word) or (macros and macros.get(word.lower()))
                if command and self._run(command, line, head):
                    if stack.frames[-1] is not frame:
                        return False
                    continue
            take(line)
        return True

    def _skip(self, line: LogicalLine) -> None:
        """Skip a line. If it is a directive of a conditional (`.if`, `.else`), carry it out."""
        head = HEAD.match(line.text)
        row = TEXT_DIRECTIVES.get(head[1]) if head is not None else None
        if head is not None and row is not None and row.always:
            self._run(row, line, head)

    def _run(self, meaning: TextDirective | Macro, line: LogicalLine, head: re.Match[str]) -> bool:
        """Carry out a directive on text or a macro call.

        `meaning` is the directive or the macro, `head` the match of the line's first word. Return
        False, and do nothing, if the line only assigns a value to the macro's name (`name = 1`).
        """
        stack = self._stack
        if len(stack.frames) > 1:
            stack.budget.spend(COMMAND_COST, 0, Caller("", line, 0, len(line.text)))
        start, end = head.span(1)
        if isinstance(meaning, Macro) and _ASSIGNMENT.match(line.text, end):
            return False
        if start:
            self._statements.take(LogicalLine(line.source, line.start, line.text[:start].rstrip()))
            line = LogicalLine(line.source, line.start + start, line.text[start:])
        command = Command(line, Name(0, end - start, head[1]))
        with self._state.report.catching(line):
            if isinstance(meaning, Macro):
                call_macro(stack, command, meaning)
            else:
                meaning.run(stack, command)
        return True

    def _reinterpret(self, line: LogicalLine) -> None:
        """Carry out `line`, in which the guessed word has replaced the wrong first word."""
        head = HEAD.match(line.text)
        assert head is not None
        meaning = TEXT_DIRECTIVES.get(head[1]) or self._stack.macros.get(head[1].lower())
        if meaning is not None:
            try:
                self._run(meaning, line, head)
            except LimitExceeded as error:
                self._stack.unwind(error)
