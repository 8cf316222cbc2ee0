"""Assembles one logical line: its labels, and its directive or instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macaw.asm import recovery
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_parts import CoreParts
from macaw.asm.data_directives import DATA_NAMES, PURE_DATA
from macaw.asm.directive import Directive
from macaw.asm.directives import DIRECTIVES, PartDirective
from macaw.asm.parser import labels_of
from macaw.asm.source import LogicalLine
from macaw.asm.statement_context import StatementContext
from macaw.asm.statement_parser import parse_line
from macaw.asm.symbols import Definition
from macaw.asm.syntax import (
    AlreadyReported,
    Mistake,
    Name,
    Phrase,
    Statement,
    missing_comma,
)
from macaw.asm.text_stack import HEAD, TextStack
from macaw.isa import registry


class Reinterpret(Exception):
    """Raised if the first word of a line is probably a misspelt macro or directive on text.

    The reader then carries out `line`, in which the guessed word replaces the first word.
    """

    def __init__(self, line: LogicalLine) -> None:
        super().__init__()
        self.line = line


def _check_commas(context: StatementContext, statement: Statement) -> None:
    """Raise `Mistake` if an operand consists of several words, as if a comma were missing."""
    for item in statement.operands:
        if isinstance(item, Phrase):
            raise missing_comma(context.line.text, item.words[1].start, item.words[1].end)


class StatementAssembler:
    """Assembles the statements of one source."""

    def __init__(self, state: AssemblyState, parts: CoreParts, stack: TextStack) -> None:
        self._state = state
        self._parts = parts
        self._stack = stack

    def take(self, line: LogicalLine) -> None:
        """Assemble a logical line. A mistake in the line is reported, not raised.

        Raises `Reinterpret`.
        """
        state = self._state
        state.next_ordinal()
        if state.record is not None:
            state.record.add_statement(state.ordinal, line)
        if state.area.is_dropped and self._is_dropped(line):
            return
        statement = parse_line(state, line, self._unknown_directive)
        if self._parts.awaits_control:
            self._parts.begin_control(line)
        labels = self._labels(line, statement) if statement.labels else []
        if statement.head is None:
            if self._parts.current is not None and state.report.has_failed(line):
                self._parts.current.statement_failed()
            return
        with state.report.catching(line):
            first = min(x.start for x in (statement.head, *statement.operands[:1]))
            context = StatementContext.current(state, line, first)
            self._run(context, statement, statement.head)
        if state.report.has_failed(line):
            self._contain(statement.head, labels)

    def _is_dropped(self, line: LogicalLine) -> bool:
        """Handle a line of a section that no program loads; return whether nothing remains to do.

        For data and instructions, the method defines the labels and returns True. For other
        directives it returns False, and the caller carries them out as usual.
        """
        head = HEAD.match(line.text)
        if head is None or (head[1] in DIRECTIVES and head[1] not in DATA_NAMES):
            return False
        if labels := labels_of(line.text):
            self._labels(line, Statement(0, 0, labels, None, ()))
        return True

    def _unknown_directive(self, line: LogicalLine) -> Mistake | None:
        """Return the error for a line with an unknown directive; None for any other line."""
        head = HEAD.match(line.text)
        part = self._parts.current
        if head is None or not head[1].startswith(".") or (part and part.accepts_anything):
            return None
        name = Name(*head.span(1), head[1])
        if self._directive(name) is not None or self._stack.knows(name.text):
            return None
        own = part.directives if part else ()
        return recovery.unknown_directive(name, [*DIRECTIVES, *own, *self._stack.known_names()])

    def _contain(self, head: Name, labels: Sequence[Definition]) -> None:
        """Prevent a wrong statement, whose first word is `head`, from causing further errors.

        If the statement is a directive, its `labels` and all pending labels become bad: uses of
        them are no errors, although their addresses or types are not known.
        """
        if self._parts.current is not None:
            self._parts.current.statement_failed()
        if self._directive(head) is not None:
            for label in [*labels, *self._state.symbols.pending]:
                label.is_bad = True  # the bytes at this label are not known

    def _labels(self, line: LogicalLine, statement: Statement) -> list[Definition]:
        part, state = self._parts.current, self._state
        state.effects += 1
        is_bad = part is not None and part.accepts_anything
        labels = state.symbols.define_labels(
            state.scope, state.ordinal, line, statement.labels, is_bad
        )
        if part is None or part.places_labels(state.area):
            state.symbols.place_labels(state.area)
        return labels

    def _directive(self, head: Name) -> Directive | PartDirective | None:
        part = self._parts.current
        return DIRECTIVES.get(head.text) or (part.directives.get(head.text) if part else None)

    def _run(self, context: StatementContext, statement: Statement, head: Name) -> None:
        part = self._parts.current
        directive = self._directive(head)
        if directive is not None:
            self._run_directive(directive, context, statement)
            return
        if part is None:
            self._guess(context, statement, self._outside_of_parts(head))
            return
        rows = part.core.rows.get(head.text)
        if rows is None and not part.accepts_anything and self._is_label(context, statement):
            label = Statement(head.start, head.end, (head,), None, ())
            self._labels(context.line, label)
            place = head.end, head.end + 1
            raise Mistake(f"expected ':' after the label '{head.text}'", place)
        if rows is not None:
            _check_commas(context, statement)
        if rows is None and not part.accepts_anything:
            known = [*DIRECTIVES, *part.directives, *self._stack.known_names()]
            self._guess(context, statement, recovery.unknown_instruction(head, part.core, known))
            return
        part.instruction(context, statement, rows or ())

    def _is_label(self, context: StatementContext, statement: Statement) -> bool:
        """Return whether the first word of a statement is probably a label without its colon.

        The word is a label if an instruction or a directive follows it. It is also a label if it is
        the only word, at the start of a line, no core has a mnemonic of this name, and no mnemonic
        or macro has a similar name.
        """
        head, part = statement.head, self._parts.current
        assert head is not None
        assert part is not None
        if head.text.startswith("."):
            return False
        if not statement.operands:
            line = context.line
            begins = line.start == 0 or line.source.text[line.start - 1] == "\n"
            known = (*part.core.rows, *self._stack.known_names())
            is_word = any(head.text in core.rows for core in registry.cores())
            return begins and not is_word and not recovery.similar(head.text, known)
        first = statement.operands[0]
        word = first.words[0] if isinstance(first, Phrase) else first
        if not isinstance(word, Name):
            return False
        return word.text in part.core.rows or self._directive(word) is not None

    def _run_directive(
        self, directive: Directive | PartDirective, context: StatementContext, statement: Statement
    ) -> None:
        start = context.area.size
        if directive.name not in PURE_DATA:
            self._state.effects += 1
        if isinstance(directive, PartDirective):
            directive.run(self._parts, context, statement)
        else:
            directive.run(context, statement)
        if context.area.size > start:
            plan = self._state.layout.plans.get(context.area.section)
            if plan is not None and plan.core is not None:
                context.mark_from(start)  # bytes that are executed, or a packet

    def _guess(self, context: StatementContext, statement: Statement, mistake: Mistake) -> None:
        """Report `mistake`, an unknown first word, and assemble the line with the word of its hint.

        Raises `Reinterpret` if the word of the hint is a macro or a directive on text.
        """
        line = context.line
        text = line.source.text
        before = text[text.rfind("\n", 0, line.start) + 1 : line.start]
        if before.rstrip().endswith(";") and recovery.guessed_word(mistake) is None:
            mistake.hint = "';' separates statements; a comment begins with '#'"
        self._state.report.mistake(line, mistake)
        word = recovery.guessed_word(mistake)
        if word is not None and self._stack.knows(word):
            text = word + line.text[mistake.end :]
            line = LogicalLine(line.source, line.start + mistake.start, text)
            self._state.report.fail(line)
            raise Reinterpret(line)
        if word is not None:
            head = Name(mistake.start, mistake.end, word)
            self._run(context, replace(statement, head=head), head)

    def _outside_of_parts(self, head: Name) -> Mistake:
        """Return the error for the word `head` outside of all parts.

        The word is an unknown directive or a mnemonic. Raises `AlreadyReported` for all mnemonics
        after the first one.
        """
        if head.text.startswith("."):
            return recovery.unknown_directive(head, [*DIRECTIVES, *self._stack.known_names()])
        if self._parts.has_reported_no_part:
            raise AlreadyReported
        self._parts.has_reported_no_part = True
        return recovery.outside_of_parts(head)
