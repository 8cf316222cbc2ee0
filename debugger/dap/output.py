"""Sends the program's output to the editor, as text."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from typing import Any

MOST_BYTES = 1 << 14  # the greatest number of bytes of output that wait to be sent
_CATEGORIES = {"stdout": "stdout", "stderr": "stderr"}


class Output:
    """Sends the output of one program when a line ends, when much text waits, and at each stop."""

    def __init__(self, notify: Callable[[str, Mapping[str, Any]], object]) -> None:
        self.notify = notify
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._waiting: dict[str, str] = {}  # by stream

    def write(self, stream: str, data: bytes) -> None:
        """Add `data` to the waiting text of a stream.

        If this text then ends with a line end or is long, call `flush`.
        """
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        text = self._waiting.get(stream, "") + decoder.decode(data)
        self._waiting[stream] = text
        if text.endswith("\n") or len(text) >= MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send the waiting text of all streams."""
        waiting, self._waiting = self._waiting, {}
        for stream, text in waiting.items():
            if text:
                category = _CATEGORIES.get(stream, "console")
                self.notify("output", {"category": category, "output": text})
