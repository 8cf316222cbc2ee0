"""Completes command lines, and finds commands by their meaning (the palette)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion

from macaw.debugger.commands.table import COMMANDS

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

    from macaw.debugger.commands.interpreter import Interpreter


class CommandCompleter(Completer):
    """Completes the last word of a line, unless `busy` returns True.

    If `palette` is true, the completions are all commands whose name or meaning contains the text
    before the cursor, even while `busy` returns True.
    """

    def __init__(self, interpreter: Interpreter, busy: Callable[[], bool] = lambda: False) -> None:
        self.interpreter = interpreter
        self.busy = busy
        self.palette = False

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """Yield the completions of the text before the cursor."""
        text = document.text_before_cursor
        if self.palette:
            yield from self._commands(text)
        elif not self.busy():
            prefix = "" if not text or text[-1].isspace() else text.split()[-1]
            for word in self.interpreter.complete(text):
                yield Completion(word, start_position=-len(prefix))

    def _commands(self, text: str) -> Iterator[Completion]:
        needle = text.strip().lower()
        for row in COMMANDS.values():
            if needle in row.name or needle in row.meaning.lower():
                yield Completion(row.name, -len(text), display=row.usage, display_meta=row.meaning)
