"""Completion by the table of commands, and the palette: commands by what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion

from macaw.debugger.commands.table import COMMANDS

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

    from macaw.debugger.commands.interpreter import Interpreter


class Words(Completer):
    """What the last word may become; nothing while the session is `busy`.

    With `palette` on: each command that has the text in its name or meaning.
    """

    def __init__(self, interpreter: Interpreter, busy: Callable[[], bool] = lambda: False) -> None:
        self.interpreter = interpreter
        self.busy = busy
        self.palette = False

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """The completions before the cursor."""
        text = document.text_before_cursor
        if self.palette:
            yield from self._commands(text)
        elif not self.busy():
            begun = "" if not text or text[-1].isspace() else text.split()[-1]
            for word in self.interpreter.complete(text):
                yield Completion(word, start_position=-len(begun))

    def _commands(self, text: str) -> Iterator[Completion]:
        wanted = text.strip().lower()
        for row in COMMANDS.values():
            if wanted in row.name or wanted in row.meaning.lower():
                yield Completion(row.name, -len(text), display=row.usage, display_meta=row.meaning)
