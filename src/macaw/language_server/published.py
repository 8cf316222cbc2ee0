"""Stores which diagnostics the client shows. One file may show diagnostics of several programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from macaw.language_server.workspace import Key


class Published:
    """The diagnostics that the client shows, for each program and each URI of a file."""

    def __init__(self, send: Callable[[str, list[types.Diagnostic]], None]) -> None:
        """Create an empty store.

        If the diagnostics of a URI change, the store calls `send` with the URI and all its
        diagnostics.
        """
        self._send = send
        self._of_program: dict[Key, dict[str, list[types.Diagnostic]]] = {}
        self._program_of: dict[str, Key] = {}  # by the URI of an open file
        self._shown: dict[str, list[types.Diagnostic]] = {}

    def put(self, uri: str, key: Key, diagnostics: dict[str, list[types.Diagnostic]]) -> None:
        """Set the diagnostics of the program `key`, to which the open file `uri` belongs.

        The diagnostics of this file are sent even if they have not changed, because its version may
        have changed.
        """
        self._of_program[key] = diagnostics
        self._program_of[uri] = key
        self._shown.pop(uri, None)
        self._update()

    def close(self, uri: str) -> None:
        """Forget the file `uri`, and its program if no other open file belongs to the program."""
        self._program_of.pop(uri, None)
        self._shown.pop(uri, None)
        for diagnostics in self._of_program.values():
            diagnostics.pop(uri, None)
        self._update()
        self._send(uri, [])

    def _update(self) -> None:
        """Send the diagnostics that have changed."""
        used = set(self._program_of.values())
        for key in [key for key in self._of_program if key not in used]:
            del self._of_program[key]
        new: dict[str, list[types.Diagnostic]] = {uri: [] for uri in self._shown}
        for program in self._of_program.values():
            for uri, diagnostics in program.items():
                new[uri] = without_repetitions([*new.get(uri, ()), *diagnostics])
        for uri, diagnostics in new.items():
            if self._shown.get(uri) != diagnostics:
                self._send(uri, diagnostics)
            self._shown[uri] = diagnostics
            if not diagnostics and uri not in self._program_of:
                del self._shown[uri]


def without_repetitions(diagnostics: Iterable[types.Diagnostic]) -> list[types.Diagnostic]:
    """Return the diagnostics, without diagnostics that repeat a message at the same position.

    Such diagnostics may differ in the includes and macro calls that lead to the position.
    """
    different: dict[object, types.Diagnostic] = {}
    for item in diagnostics:
        start, end = item.range.start, item.range.end
        place = start.line, start.character, end.line, end.character
        different.setdefault((place, item.message), item)
    return list(different.values())
